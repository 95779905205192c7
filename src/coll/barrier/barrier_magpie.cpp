// A native barrier in the cluster; the leaders notify each other; then the members are released.
#include "coll/barrier/barrier.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

static Task barrier_magpie(Party& party, Parameters) {
  const Layout& layout = party.layout();
  co_await party.local_barrier();
  if (layout.clusters() == 1) co_return;
  if (is_leader(party)) {
    std::vector<Pending> pending;
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == my_cluster(party)) continue;
      pending.push_back(party.recv(layout.leader(c), kTagBarrier, {}));
      pending.push_back(party.send(layout.leader(c), kTagBarrier, {}));
    }
    for (auto& p : pending) co_await p;
  }
  // A barrier rather than a broadcast: an empty broadcast need not wait for its root.
  co_await party.local_barrier();
}

double cost_barrier_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return 2 * native_bcast(setting.network, members, 0) + far_message(setting, 0) +
         detours(setting, 0);
}

extern const Algorithm kBarrierMagpie{Kind::Barrier,       "magpie",       kNothing, kNone,
                                      cost_barrier_magpie, barrier_magpie, kMagPIe};

}  // namespace isthmus::coll
