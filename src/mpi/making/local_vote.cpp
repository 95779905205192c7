#include "mpi/making/local_vote.hpp"

#include <deque>
#include <exception>
#include <optional>
#include <vector>

#include "coll/engine/party.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

/// The members tell their first one how the exchange has ended. It tells them whether it has ended
/// well at all. A member that got an error waits for nobody. All others hear in the end, since this
/// cluster lives.
class Vote {
 public:
  /// `me` and `members` are ranks of `group`.
  Vote(const core::Group& group, std::uint64_t context, int me, std::span<const int> members,
       int tag)
      : group_(group),
        context_(context | traffic::kVoteContext),
        me_(me),
        members_(members),
        tag_(tag) {}

  bool cast(bool well) const {
    const int first = members_.front();
    if (me_ != first) {
      post(first, well);
      return well && hear({&first, 1});
    }
    const auto others = members_.subspan(1);
    const bool all = well && hear(others);
    for (const int member : others) post(member, all);
    return all;
  }

 private:
  void post(int member, bool word) const {
    const core::Envelope envelope{context_, me_, tag_, 1};
    grid()->endpoint->locked([&](core::Engine& engine) {
      engine.post(static_cast<core::NodeId>(group_.node(member)), envelope,
                  {std::byte{static_cast<unsigned char>(word ? 1 : 0)}});
    });
  }

  bool hear(std::span<const int> members) const {
    std::deque<core::RecvOp> ops;
    std::vector<std::byte> words(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      core::RecvOp& op = ops.emplace_back();
      op.context = context_;
      op.source = members[i];
      op.tag = tag_;
      op.from = static_cast<core::NodeId>(group_.node(members[i]));
      op.buffer = &words[i];
      op.capacity = 1;
      grid()->endpoint->recv(op);
    }
    bool all = true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      wait_until([&] { return ops[i].done(); });
      all = all && words[i] != std::byte{0};
    }
    return all;
  }

  const core::Group& group_;
  const std::uint64_t context_;
  const int me_;
  const std::span<const int> members_;
  const int tag_;
};

/// Returns whether `exchange` has ended well at all members. Throws what it has thrown here.
bool voted(const Vote& vote, const std::function<void()>& exchange) {
  std::exception_ptr thrown;
  try {
    exchange();
  } catch (...) {
    thrown = std::current_exception();
  }
  const bool all = vote.cast(thrown == nullptr);
  if (thrown) std::rethrow_exception(thrown);
  return all;
}

[[noreturn]] void throw_given_up(const std::optional<Loss>& loss) {
  throw MpiError(loss ? loss->error_class : proc_failed(),
                 loss ? loss->because : "another member of this cluster has given up the call");
}

}  // namespace

void before_native(const GridComm& comm, std::span<const int> members, int tag,
                   const std::function<void()>& exchange) {
  if (!may_lose() || members.size() < 2) return exchange();
  const Vote vote(comm.group, comm.collective_context(), comm.rank, members, tag);
  if (!voted(vote, exchange)) throw_given_up(loss_of_all(comm));
}

void before_native(const core::Group& group, std::uint64_t context,
                   const std::function<void()>& exchange) {
  if (!may_lose()) return exchange();
  std::vector<int> members;
  for (int rank = 0; rank < group.size(); ++rank) {
    if (grid()->native_of(group.node(rank)) >= 0) members.push_back(rank);
  }
  const int me = group.rank_of(grid()->node).value();
  if (!voted(Vote(group, context, me, members, 0), exchange)) throw_given_up(loss_among(group));
}

void before_native(const GridComm& comm, const std::function<void()>& exchange) {
  const int number =
      static_cast<int>(comm.survival.votes.fetch_add(1, std::memory_order_relaxed) & 0x7FFF'FFFF);
  before_native(comm, comm.members, number, exchange);
}

int tag_among(const core::Group& group, int tag) {
  std::uint64_t mark = 0xCBF2'9CE4'8422'2325 ^ static_cast<std::uint64_t>(tag);  // FNV-1a
  for (const int node : group.nodes()) {
    mark = (mark ^ static_cast<std::uint64_t>(node)) * 0x100'0000'01B3;
  }
  return static_cast<int>((mark ^ mark >> 32) & 0x7FFF'FFFF);
}

}  // namespace isthmus::face
