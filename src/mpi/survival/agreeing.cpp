#include "mpi/survival/agreeing.hpp"

#include <cstddef>
#include <deque>
#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

constexpr std::uint32_t kAny = 0xFFFF'FFFF;

/// MPIX_Comm_agree. In an intercommunicator, each side has the flags of the other. So there is an
/// agreement for the flags of each side, in the order that both know.
class FlagAgreement {
 public:
  FlagAgreement(const GridCommRef& comm, std::uint32_t flag)
      : group_(everyone(comm)->group), of_first_(flag) {
    if (!comm->inter) {
      agreeings_.emplace_back(comm, flag, Agreeing::Call::Agree);
      return;
    }
    wants_first_ = !sides_of(*comm).local_first();
    for (const bool first : {true, false}) {
      agreeings_.emplace_back(comm, first != wants_first_ ? flag : kAny, Agreeing::Call::Agree);
    }
  }
  /// True: it is over, and *flag is written. Throws as agree_on_flag().
  bool poll(int* flag) {
    while (decided_ < agreeings_.size()) {
      const std::optional<core::Decision> decision = agreeings_[decided_].poll();
      if (!decision) return false;
      last_ = *decision;
      if (decided_++ == 0) of_first_ = static_cast<std::uint32_t>(last_.flags);
    }
    *flag = static_cast<int>(wants_first_ ? of_first_ : static_cast<std::uint32_t>(last_.flags));
    if (last_.failed.within(last_.acknowledged)) return true;
    throw MpiError(proc_failed(), why_failed(group_, last_.failed));
  }

 private:
  core::Group group_;
  std::deque<Agreeing> agreeings_;
  std::size_t decided_ = 0;
  std::uint32_t of_first_;
  bool wants_first_ = false;
  core::Decision last_;
};

class AgreeingLater final : public Operation {
 public:
  AgreeingLater(const GridCommRef& handle, int* flag)
      : agreement_(handle, static_cast<std::uint32_t>(*flag)), handle_(handle), flag_(flag) {
    comm = handle->native;
  }
  bool advance() override { return agreement_.poll(flag_); }

 private:
  FlagAgreement agreement_;
  HandleUse handle_;
  int* flag_;
};

}  // namespace

Agreeing::Agreeing(const GridCommRef& comm, std::uint32_t flags, Call call)
    : call_(call),
      group_(everyone(comm)->group),
      survivors_(Survivors::of(*everyone(comm))),
      ticket_(survivors_->begin(flags | static_cast<std::uint64_t>(call),
                                comm->survival.acknowledged.load(), fresh_context())) {}

Agreeing::Agreeing(const core::Group& group, std::uint64_t context, std::uint32_t flags, Call call)
    : call_(call),
      group_(group),
      survivors_(Survivors::of(
          context | (call == Call::Free ? traffic::kFreeingContext : traffic::kMakingContext),
          group.rank_of(grid()->node).value(), group)),
      ticket_(survivors_->begin(flags | static_cast<std::uint64_t>(call), 0, 0)) {}

std::optional<core::Decision> Agreeing::poll() {
  if (!decision_) decision_ = survivors_->decision(ticket_);
  if (!decision_ || !heard_of_failures()) return std::nullopt;
  if ((decision_->flags & static_cast<std::uint64_t>(call_)) == 0) {
    throw MpiError(MPI_ERR_OTHER,
                   "some members call MPIX_Comm_agree and others MPIX_Comm_shrink: all members "
                   "must make the same calls in the same order");
  }
  return std::exchange(decision_, std::nullopt);
}

// The launcher tells all processes of a failure. Members that heard earlier may have decided.
bool Agreeing::heard_of_failures() const {
  if (decision_->failed.empty()) return true;
  const FailedClusters& failed = FailedClusters::all();
  return decision_->failed.within(members_in(group_, failed.first(failed.count())));
}

core::Decision Agreeing::wait() {
  std::optional<core::Decision> decision;
  wait_until([&] { return (decision = poll()).has_value(); });
  return std::move(*decision);
}

void agree_on_flag(const GridCommRef& comm, int* flag) {
  FlagAgreement agreement(comm, static_cast<std::uint32_t>(*flag));
  wait_until([&] { return agreement.poll(flag); });
}

std::unique_ptr<Operation> begin_agreeing(const GridCommRef& comm, int* flag) {
  return std::make_unique<AgreeingLater>(comm, flag);
}

}  // namespace isthmus::face
