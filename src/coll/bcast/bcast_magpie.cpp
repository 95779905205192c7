// The root sends to the other clusters' leaders at once, while its own cluster's native broadcast
// runs; each leader broadcasts in its cluster (MagPIe).
#include "coll/bcast/bcast.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

Task bcast_magpie(Party& party, Bytes data, int root, Parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const int home = layout.cluster_of(root);
  const bool at_home = my_cluster(party) == home;
  std::vector<Pending> pending;
  if (party.rank() == root) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c != home) pending.push_back(party.send(layout.leader(c), kTagBcast, data));
    }
  } else if (!at_home && is_leader(party)) {
    co_await party.recv(root, kTagBcast, data);
  }
  pending.push_back(party.local_bcast(data, at_home ? layout.index_of(root) : 0));
  for (auto& p : pending) co_await p;
}

double cost_bcast_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) + detours(setting, setting.bytes()) +
         noticed_late(setting) + native_bcast(setting.network, members, setting.bytes());
}

extern const Algorithm kBcastMagpie{Kind::Bcast,       "magpie",     kNothing, kNone,
                                    cost_bcast_magpie, bcast_magpie, kMagPIe};

}  // namespace isthmus::coll
