// The root sends straight to every rank of the other clusters, while its own cluster's native
// broadcast runs. A rank there is done as soon as its message has come. Each byte crosses once for
// each of those ranks, so this is for very short messages.
#include <algorithm>
#include <vector>

#include "coll/bcast/bcast.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

static Task bcast_direct(Party& party, Bytes data, int root, Parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const int home = layout.cluster_of(root);
  std::vector<Pending> pending;
  if (my_cluster(party) != home) {
    pending.push_back(party.recv(root, kTagBcast, data));
  } else {
    if (party.rank() == root) {
      for (int rank = 0; rank < layout.size(); ++rank) {
        if (layout.cluster_of(rank) != home) pending.push_back(party.send(rank, kTagBcast, data));
      }
    }
    pending.push_back(party.local_bcast(data, layout.index_of(root)));
  }
  for (auto& p : pending) co_await p;
}

namespace {

double cost_bcast_direct(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const auto far = static_cast<double>(setting.layout.size() - members);
  const double bytes = far * static_cast<double>(setting.bytes());
  const double out = bytes / std::min(wan_rate(network, 1), network.link_bandwidth);
  const double far_ways = detours(setting, setting.bytes());
  return std::max(network.wan_latency + far_ways + network.message_cost * far + out,
                  native_bcast(network, members, setting.bytes()));
}

}  // namespace

extern const Algorithm kBcastDirect{Kind::Bcast,       "direct",     kNothing, kNone,
                                    cost_bcast_direct, bcast_direct, ""};

}  // namespace isthmus::coll
