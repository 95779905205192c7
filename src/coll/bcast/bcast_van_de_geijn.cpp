// Broadcasts by scatter and allgather.
//
// van-de-geijn: over all ranks alike (Barnett et al., "Building a High-Performance Collective
// Communication Library", SC 1994).
// farfirst: the whole message to the other clusters first, then that inside each cluster (Matsuda
// et al., "Efficient MPI Collective Operations for Clusters in Long-and-Fast Networks", CLUSTER
// 2006, section 3.1).
// van-de-geijn-wan: scatter in the root's cluster, a copy of the scattered parts to every other
// cluster by n senders at once, allgather in each (the same, sections 2.2 to 2.5). Others hand
// their parts to the senders; the receivers hand them on to their clusters' members.
#include <numeric>

#include "coll/bcast/bcast.hpp"
#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/counterparts.hpp"
#include "coll/patterns/halving.hpp"

namespace isthmus::coll {
namespace {

std::vector<int> list_of(std::span<const int> ranks) { return {ranks.begin(), ranks.end()}; }

Task scatter_and_gather(Party& party, Bytes data, std::vector<int> ranks, int root) {
  co_await scatter_by_halving(party, ranks, root, data, kTagBcast);
  co_await gather_by_doubling(party, shares_after_scatter(ranks, root, data.size()), data,
                              kTagBcastSpread);
}

}  // namespace

Task bcast_van_de_geijn(Party& party, Bytes data, int root, Parameters) {
  std::vector<int> all(static_cast<std::size_t>(party.layout().size()));
  std::iota(all.begin(), all.end(), 0);
  if (!data.empty()) co_await scatter_and_gather(party, data, all, root);
}

Task bcast_farfirst(Party& party, Bytes data, int root, Parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const int home = layout.cluster_of(root);
  const int here = my_cluster(party);
  std::vector<Pending> far;
  if (party.rank() == root) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c != home) far.push_back(party.send(layout.leader(c), kTagBcastCopy, data));
    }
  } else if (here != home && is_leader(party)) {
    far.push_back(party.recv(root, kTagBcastCopy, data));
  }
  for (auto& p : far) co_await p;
  const int local_root = here == home ? root : layout.leader(here);
  co_await scatter_and_gather(party, data, list_of(layout.members(here)), local_root);
}

Task bcast_van_de_geijn_wan(Party& party, Bytes data, int root, Parameters parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const int home = layout.cluster_of(root);
  const int here = my_cluster(party);
  const int senders = matched_senders(layout, parameters.senders);
  const auto scattered = shares_after_scatter(layout.members(home), root, data.size());
  const auto at_senders = sender_shares(scattered, senders, data.size(), 1);
  std::vector<int> members = list_of(layout.members(here));
  if (here == home) {
    co_await scatter_by_halving(party, members, root, data, kTagBcast);
    co_await redistribute(party, data, scattered, at_senders, kTagBcastCopy);
    std::vector<Task> side_by_side;
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == home) continue;
      const auto there = even_shares(layout.members(c), data.size(), 1);
      auto at_receivers = sender_shares(there, senders, data.size(), 1);
      side_by_side.push_back(redistribute(party, data, at_senders, at_receivers, kTagBcastCopy));
    }
    side_by_side.push_back(gather_by_doubling(party, scattered, data, kTagBcastSpread));
    Pending done = all_of(std::move(side_by_side));
    co_await done;
    co_return;
  }
  const auto parts = even_shares(members, data.size(), 1);
  const auto at_receivers = sender_shares(parts, senders, data.size(), 1);
  co_await redistribute(party, data, at_senders, at_receivers, kTagBcastCopy);
  co_await redistribute(party, data, at_receivers, parts, kTagBcastCopy);
  co_await gather_by_doubling(party, parts, data, kTagBcastSpread);
}

namespace {

double cost_bcast_farfirst(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) + detours(setting, setting.bytes()) +
         2 * explicit_steps(setting.network, members, setting.bytes());
}

double cost_bcast_van_de_geijn(const Setting& setting, const Parameters&) {
  // Each step may cross: the scatter once, the allgather in every one, with half of the message
  // in the last, when all members send at a time.
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const double crossing =
      static_cast<double>(setting.bytes()) / 2 * largest_cluster(layout) / network.wan_bandwidth;
  return 2 * explicit_steps(network, layout.size(), setting.bytes()) + crossing +
         (1 + rounds(layout.size())) * network.wan_latency;
}

double cost_bcast_van_de_geijn_wan(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return 2 * explicit_steps(setting.network, members, setting.bytes()) +
         far_copy(setting, setting.bytes(), senders_of(setting, parameters)) + planning(setting);
}

}  // namespace

const Algorithm kBcastFarfirst{Kind::Bcast,         "farfirst",     kByName, kNone,
                               cost_bcast_farfirst, bcast_farfirst, kMatsuda};
const Algorithm kBcastVanDeGeijn{
    Kind::Bcast,        "van-de-geijn",           kByName, kNone, cost_bcast_van_de_geijn,
    bcast_van_de_geijn, "Barnett et al., SC 1994"};
const Algorithm kBcastVanDeGeijnWan{
    Kind::Bcast, "van-de-geijn-wan",          kByName,
    kSenders,    cost_bcast_van_de_geijn_wan, bcast_van_de_geijn_wan,
    kMatsuda};

}  // namespace isthmus::coll
