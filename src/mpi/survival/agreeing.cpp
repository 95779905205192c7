#include "mpi/survival/agreeing.hpp"

#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

void finish_agreeing(const GridComm& comm, const core::Decision& decision, int* flag) {
  *flag = static_cast<int>(static_cast<std::uint32_t>(decision.flags));
  if (decision.failed.within(decision.acknowledged)) return;
  throw MpiError(proc_failed(), why_failed(comm.group, decision.failed));
}

class AgreeingLater final : public Operation {
 public:
  AgreeingLater(const GridCommRef& handle, int* flag)
      : agreeing_(handle, static_cast<std::uint32_t>(*flag), Agreeing::Call::Agree),
        handle_(handle),
        flag_(flag) {
    comm = handle->native;
  }
  bool advance() override {
    const std::optional<core::Decision> decision = agreeing_.poll();
    if (decision) finish_agreeing(*handle_, *decision, flag_);
    return decision.has_value();
  }

 private:
  Agreeing agreeing_;
  HandleUse handle_;
  int* flag_;
};

}  // namespace

Agreeing::Agreeing(const GridCommRef& comm, std::uint32_t flags, Call call)
    : call_(call),
      group_(comm->group),
      survivors_(Survivors::of(*comm)),
      ticket_(survivors_->begin(flags | static_cast<std::uint64_t>(call),
                                comm->survival.acknowledged.load(), fresh_context())) {}

Agreeing::Agreeing(const core::Group& group, std::uint64_t context, std::uint32_t flags, Call call)
    : call_(call),
      group_(group),
      survivors_(Survivors::of(context | (call == Call::Free ? traffic::kFreeingContext
                                                             : traffic::kMakingContext),
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
  Agreeing agreeing(comm, static_cast<std::uint32_t>(*flag), Agreeing::Call::Agree);
  finish_agreeing(*comm, agreeing.wait(), flag);
}

std::unique_ptr<Operation> begin_agreeing(const GridCommRef& comm, int* flag) {
  return std::make_unique<AgreeingLater>(comm, flag);
}

}  // namespace isthmus::face
