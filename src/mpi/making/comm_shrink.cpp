#include "mpi/making/comm_shrink.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coll/engine/party.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/native_group.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/request.hpp"
#include "mpi/survival/agreeing.hpp"

namespace isthmus::face {
namespace {

/// Flag of the outcome: this member has made its part.
constexpr std::uint32_t kMade = 1;

/// The native communicator of all members here: a cluster fails as a whole. Not by a collective of
/// the handle, since others of its members may have left one halfway.
int make_native_part(const GridComm& parent, std::uint64_t context, MPI_Comm* made) {
  constexpr int kTag = traffic::kPromisedTags;  // hardly the program's
  const Inside inside;
  MPI_Group members = MPI_GROUP_NULL;
  int code = native.Comm_group(parent.native, &members);
  if (code != MPI_SUCCESS) return code;
  code = create_native_group(parent.native, parent.session, members, context, kTag, made);
  native.Group_free(&members);
  return code;
}

/// The living members of `group`. `failed`: of the whole communicator.
core::Group living(const core::Group& group, const core::Group& failed) {
  std::vector<int> ranks;
  for (const int node : failed.nodes()) {
    if (const auto rank = group.rank_of(node)) ranks.push_back(*rank);
  }
  return group.exclude(ranks);
}

int make_sides(const GridComm& parent, const core::Decision& decision, MPI_Comm* made) {
  const core::Group failed = parent.inter->whole->group.include(decision.failed.ranks());
  const Sides sides{living(parent.inter->local, failed), living(parent.group, failed)};
  require(sides.local.size() > 0 && sides.remote.size() > 0, proc_failed(),
          "all members of one side have failed");
  MPI_Comm native_part = MPI_COMM_NULL;
  const int code = make_native_part(parent, decision.word, &native_part);
  if (code != MPI_SUCCESS) return code;
  return finish_intercomm(sides, decision.word, native_part, parent.session, made);
}

int make_part(const GridComm& parent, const core::Decision& decision, MPI_Comm* made) {
  if (parent.inter) return make_sides(parent, decision, made);
  MPI_Comm native_part = MPI_COMM_NULL;
  const int code = make_native_part(parent, decision.word, &native_part);
  if (code != MPI_SUCCESS) return code;
  const core::Group left = parent.group.exclude(decision.failed.ranks());
  return finish_comm(left, decision.word, native_part, nullptr, parent.session, made);
}

/// One member's part, and why it could not be made.
struct Part {
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  std::exception_ptr thrown;

  bool good() const { return code == MPI_SUCCESS && !thrown; }
  void drop() {
    if (made != MPI_COMM_NULL) isthmus_Comm_free(&made);
  }
};

/// Whether all living members have made their parts. It is an agreement of its own: the program may
/// begin others on the communicator meanwhile. A member that has failed since `decision` stays in
/// the new communicator.
Agreeing agree_on_outcome(const GridCommRef& comm, const core::Decision& decision, bool made) {
  return {everyone(comm)->group, decision.word, made ? kMade : 0, Agreeing::Call::Make};
}

bool made_everywhere(const core::Decision& outcome) { return (outcome.flags & kMade) != 0; }

[[noreturn]] void throw_unmade() {
  throw MpiError(MPI_ERR_OTHER,
                 "the native MPI library of another member could not make its part of the "
                 "communicator (it may have too many)");
}

/// Takes part without a communicator, so that no other member waits for ever.
void give_up(const GridCommRef& comm) {
  agree_on_outcome(comm, Agreeing(comm, 0, Agreeing::Call::Shrink).wait(), false);
}

/// For a member that is alone in its cluster: its native part needs nobody, so it exists already.
/// Or `code` says why not. Then this takes part, too. It does so from the first advance() on.
class ShrinkingLater final : public Operation {
 public:
  ShrinkingLater(const GridCommRef& parent, MPI_Comm native_part, int code, GiveComm give)
      : handle_(parent), native_part_(native_part), code_(code), give_(std::move(give)) {
    comm = parent->native;
  }
  ~ShrinkingLater() override {
    if (native_part_ != MPI_COMM_NULL && grid() != nullptr) native.Comm_free(&native_part_);
  }
  ShrinkingLater(const ShrinkingLater&) = delete;
  ShrinkingLater& operator=(const ShrinkingLater&) = delete;

  bool advance() override {
    if (!agreeing_) agreeing_.emplace(handle_.comm(), 0, Agreeing::Call::Shrink);
    std::optional<core::Decision> decision = agreeing_->poll();
    if (decision && !wanted_) {
      agreeing_.emplace(agree_on_outcome(handle_.comm(), *decision, code_ == MPI_SUCCESS));
      wanted_ = std::exchange(decision, std::nullopt);
      decision = agreeing_->poll();
    }
    if (!decision) return false;
    if (code_ != MPI_SUCCESS) {
      result.error = code_;
    } else if (made_everywhere(*decision)) {
      finish();
    } else {
      throw_unmade();
    }
    return true;
  }

 private:
  void finish() {
    const core::Group left = handle_->group.exclude(wanted_->failed.ranks());
    if (!within_cluster(left)) {
      register_comm(left, wanted_->word, native_part_, {})->session = handle_->session;
    }
    give_(std::exchange(native_part_, MPI_COMM_NULL));
  }

  HandleUse handle_;
  MPI_Comm native_part_;
  const int code_;
  GiveComm give_;
  std::optional<Agreeing> agreeing_;
  std::optional<core::Decision> wanted_;
};

Part try_part(const GridComm& parent, const core::Decision& decision) {
  Part part;
  try {
    part.code = make_part(parent, decision, &part.made);
  } catch (...) {
    part.thrown = std::current_exception();
  }
  return part;
}

}  // namespace

int shrink(const GridCommRef& comm, MPI_Comm* newcomm) {
  const core::Decision decision = Agreeing(comm, 0, Agreeing::Call::Shrink).wait();
  Part part = try_part(*comm, decision);
  if (made_everywhere(agree_on_outcome(comm, decision, part.good()).wait())) {
    *newcomm = part.made;
    return MPI_SUCCESS;
  }
  if (part.thrown) std::rethrow_exception(part.thrown);
  if (!part.good()) return part.code;
  part.drop();
  throw_unmade();
}

int shrink_later(const GridCommRef& comm, GiveComm give, MPI_Request* request) {
  MPI_Comm made = MPI_COMM_NULL;
  if (comm->inter || comm->has_company()) {
    const int code = shrink(comm, &made);
    if (code != MPI_SUCCESS) return code;
    give(made);
    return native.Ibarrier(MPI_COMM_SELF, request);
  }
  const int code = make_native_part(*comm, fresh_context(), &made);
  if (code != MPI_SUCCESS) made = MPI_COMM_NULL;
  settle_handles();
  give(MPI_COMM_NULL);
  const int begun =
      make_request(std::make_unique<ShrinkingLater>(comm, made, code, std::move(give)), request);
  if (begun != MPI_SUCCESS) give_up(comm);
  return begun;
}

}  // namespace isthmus::face
