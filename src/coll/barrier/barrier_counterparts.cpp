// After a native barrier in the cluster, every member notifies its counterparts in the other
// clusters. It leaves when all counterparts have notified it: after one delay, without a leader's
// release. Dissemination between clusters, as MagPIe's barrier, with all members as leaders.
#include "coll/barrier/barrier.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

Task barrier_counterparts(Party& party, Parameters) {
  const Layout& layout = party.layout();
  co_await party.local_barrier();
  const auto me = static_cast<std::size_t>(my_index(party));
  const auto members = layout.members(my_cluster(party)).size();
  std::vector<Pending> pending;
  for (int c = 0; c < layout.clusters(); ++c) {
    if (c == my_cluster(party)) continue;
    const auto theirs = layout.members(c);
    pending.push_back(party.recv(theirs[me % theirs.size()], kTagBarrier, {}));
    for (std::size_t i = me; i < theirs.size(); i += members) {
      pending.push_back(party.send(theirs[i], kTagBarrier, {}));
    }
  }
  for (auto& p : pending) co_await p;
}

namespace {

double cost_barrier_counterparts(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  return exchange_latency(setting.network, shape.members) +
         2 * shape.others * setting.network.message_cost +
         queueing(setting.network, shape.members) + all_at_once(setting, 0, 0) +
         detours(setting, 0);
}

}  // namespace

extern const Algorithm kBarrierCounterparts{
    Kind::Barrier,        "counterparts", kNothing, kNone, cost_barrier_counterparts,
    barrier_counterparts, kLanes};

}  // namespace isthmus::coll
