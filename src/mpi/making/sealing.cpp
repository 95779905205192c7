#include "mpi/making/sealing.hpp"

#include <algorithm>

#include "coll/engine/party.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

// The flags of a member: its exchange has ended well, and no revocation has ended it.
constexpr std::uint32_t kWell = 1, kUnrevoked = 2;

[[noreturn]] void throw_undone(const core::Group& group, const core::Decision& decision) {
  if (!decision.failed.empty()) {
    throw MpiError(proc_failed(), why_failed(group, decision.failed));
  }
  if ((decision.flags & kUnrevoked) == 0) throw MpiError(revoked(), kRevoked);
  throw MpiError(MPI_ERR_OTHER, "another member has given up the call");
}

void require_done(const core::Group& group, const core::Decision& decision) {
  if ((decision.flags & kWell) == 0 || !decision.failed.empty()) throw_undone(group, decision);
}

}  // namespace

bool may_lose_some(const core::Group& group) {
  if (!may_lose()) return false;
  const core::World& world = grid()->world();
  return std::ranges::all_of(group.nodes(), [&world](int node) {
    return world.clusters[world.cluster_of(node)].run.empty();
  });
}

bool sealed(const core::Group& group, std::uint64_t context,
            const std::function<bool()>& exchange) {
  if (!may_lose_some(group)) return exchange();
  const auto say = [&](std::uint32_t flags) {
    return Agreeing(group, context, flags, Agreeing::Call::Make);
  };
  bool well = false;
  try {
    well = exchange();
  } catch (const MpiError& failure) {
    say(failure.code == revoked() ? 0 : kUnrevoked);
    throw;
  } catch (...) {
    say(kUnrevoked);
    throw;
  }
  Agreeing agreeing = say(well ? kWell | kUnrevoked : kUnrevoked);
  if (!well) return false;
  require_done(group, agreeing.wait());
  return true;
}

Seal::~Seal() {
  if (agreeing_ || grid() == nullptr) return;
  Agreeing(group_, context_, kUnrevoked, Agreeing::Call::Make);
}

void Seal::say_well() {
  agreeing_.emplace(group_, context_, kWell | kUnrevoked, Agreeing::Call::Make);
}

bool Seal::poll() {
  const std::optional<core::Decision> decision = agreeing_->poll();
  if (decision) require_done(group_, *decision);
  return decision.has_value();
}

void meet_living(const GridCommRef& comm) {
  const GridCommRef all = everyone(comm);
  if (may_lose_some(all->group)) {
    Agreeing(all->group, all->context, 0, Agreeing::Call::Free).wait();
    return;
  }
  try {
    meet(comm);
  } catch (const MpiError&) {
    if (!may_lose()) throw;
  }
}

bool all_succeeded(const GridCommRef& comm, std::uint64_t context, bool mine) {
  return sealed(everyone(comm)->group, context, [&] { return all_succeeded(comm, mine); });
}

}  // namespace isthmus::face
