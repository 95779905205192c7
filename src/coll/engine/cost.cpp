#include "coll/engine/cost.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "coll/engine/ways.hpp"

namespace isthmus::coll {

double wan_rate(const Network& network, int senders) {
  const int ways = network.paths == 0 ? senders : std::min(senders, network.paths);
  return std::min(network.wan_bandwidth, std::max(ways, 1) * network.link_bandwidth);
}

int largest_cluster(const Layout& layout) {
  std::size_t most = 1;
  for (int c = 0; c < layout.clusters(); ++c) most = std::max(most, layout.members(c).size());
  return static_cast<int>(most);
}

int smallest_cluster(const Layout& layout) {
  std::size_t least = layout.members(0).size();
  for (int c = 1; c < layout.clusters(); ++c) least = std::min(least, layout.members(c).size());
  return static_cast<int>(least);
}

int rounds(int number) {
  int needed = 0;
  while ((1 << needed) < number) ++needed;
  return needed;
}

double link_time(const Network& network, std::size_t bytes) {
  return static_cast<double>(bytes) / network.link_bandwidth;
}

namespace {

/// A tree of whole messages, or twice the message in halving steps, whichever is quicker.
double tree_or_halving(const Network& network, int members, std::size_t bytes) {
  if (members < 2) return 0;
  const double hop = network.link_latency + network.message_cost;
  const double whole = link_time(network, bytes);
  const double tree = rounds(members) * (hop + whole);
  const double halving = 2 * rounds(members) * hop + 2 * whole * (members - 1) / members;
  return std::min(tree, halving);
}

}  // namespace

double far_message(const Setting& setting, std::size_t bytes) {
  const int others = setting.layout.clusters() - 1;
  if (others == 0) return 0;
  const Network& network = setting.network;
  const double size = static_cast<double>(bytes);
  const double out = std::max(size / wan_rate(network, 1), size * others / network.link_bandwidth);
  return network.wan_latency + network.message_cost * others + out;
}

namespace {

/// Pairs of clusters that send at the same time.
using Senders = std::vector<std::pair<int, int>>;

Senders edges_of(const ClusterTree& tree, int clusters) {
  Senders edges;
  for (int c = 0; c < clusters; ++c) {
    if (c != tree.root()) edges.emplace_back(std::minmax({tree.parent(c), c}));
  }
  return edges;
}

/// Number of pairs in `all` that share the stretch with this pair; 0 if the pair does not use it.
double users_of(const Ways::Shared& stretch, const std::pair<int, int>& pair, const Senders& all) {
  const auto shares = [&](const auto& one) {
    return std::ranges::find(stretch.pairs, one) != stretch.pairs.end();
  };
  return shares(pair) ? static_cast<double>(std::ranges::count_if(all, shares)) : 0;
}

/// Bytes a second from `a` to `b`, one of `receivers` that a leader sends to, while `all` send.
double rate_among(const Setting& setting, int a, int b, std::size_t receivers, const Senders& all) {
  const Ways& ways = *setting.ways;
  double rate =
      std::min(ways.rate(a, b, 1), setting.network.link_bandwidth / static_cast<double>(receivers));
  for (const Ways::Shared& stretch : ways.shared()) {
    const double users = users_of(stretch, std::minmax({a, b}), all);
    if (users > 0) rate = std::min(rate, stretch.bandwidth / users);
  }
  return rate;
}

/// One way of many, each leader sending to `receivers` others.
double way_among(const Setting& setting, int a, int b, std::size_t bytes, std::size_t receivers,
                 const Senders& all) {
  return setting.network.message_cost * static_cast<double>(receivers) +
         setting.ways->latency(a, b) +
         static_cast<double>(bytes) / rate_among(setting, a, b, receivers, all);
}

/// When all clusters below `cluster` have the message; `cluster` has it after `after` seconds.
double below(const Setting& setting, const ClusterTree& tree, std::size_t bytes, int cluster,
             double after, const Senders& all) {
  const auto& children = tree.children(cluster);
  double latest = after;
  for (const int child : children) {
    const double way = way_among(setting, cluster, child, bytes, children.size(), all);
    latest = std::max(latest, below(setting, tree, bytes, child, after + way, all));
  }
  return latest;
}

/// The value of avoiding longer ways: a tenth of the saved time, at most of the longest way's.
double worth(double more, double longest) {
  return ClusterTree::kWorth * std::clamp(more, 0.0, longest);
}

}  // namespace

double tree_rate(const Setting& setting, const ClusterTree& tree, int senders) {
  const Ways& ways = *setting.ways;
  const Senders all = edges_of(tree, ways.clusters());
  double rate = wan_rate(setting.network, senders);
  bool first = true;
  for (const auto& [a, b] : all) {
    double here = ways.rate(a, b, senders);
    for (const Ways::Shared& stretch : ways.shared()) {
      const double users = users_of(stretch, {a, b}, all);
      if (users > 0) here = std::min(here, stretch.bandwidth / users);
    }
    rate = first ? here : std::min(rate, here);
    first = false;
  }
  return rate;
}

double tree_message(const Setting& setting, const ClusterTree& tree, std::size_t bytes) {
  return below(setting, tree, bytes, tree.root(), 0, edges_of(tree, setting.ways->clusters()));
}

namespace {

double detours_of_exchange(const Setting& setting, std::size_t bytes) {
  const Ways& ways = *setting.ways;
  const ClusterGroups groups(ways, bytes);
  double longest = 0, more = 0;
  for (int a = 0; a < ways.clusters(); ++a) {
    for (int b = a + 1; b < ways.clusters(); ++b) {
      const double way = ways.distance(a, b, bytes);
      longest = std::max(longest, way);
      const bool taken = groups.is_head(a) && (groups.is_head(b) || groups.head(b) == a);
      if (!taken) more += way;
    }
  }
  return worth(more, longest);
}

}  // namespace

double detours(const Setting& setting, std::size_t bytes) {
  const int home = setting.problem.home;
  if (setting.ways == nullptr) return 0;
  if (home < 0) return detours_of_exchange(setting, bytes);
  const ClusterTree star = ClusterTree::star(*setting.ways, home, bytes);
  if (star.children(home).empty()) return 0;
  return worth(star.length() - ClusterTree(*setting.ways, home, bytes).length(),
               setting.ways->distance(home, star.children(home).front(), bytes));
}

double group_message(const Setting& setting, const ClusterGroups& groups, std::size_t bytes) {
  Senders all;
  for (const int head : groups.all_heads()) {
    for (const int other : groups.others_in_group(head)) all.emplace_back(head, other);
  }
  double latest = 0;
  for (const auto& [head, other] : all) {
    const std::size_t receivers = groups.others_in_group(head).size();
    latest = std::max(latest, way_among(setting, head, other, bytes, receivers, all));
  }
  return latest;
}

double heads_message(const Setting& setting, const ClusterGroups& groups, std::size_t bytes) {
  const std::vector<int> heads = groups.all_heads();
  Senders all;
  for (const int a : heads) {
    for (const int b : heads) {
      if (a < b) all.emplace_back(a, b);
    }
  }
  double latest = 0;
  for (const auto& [a, b] : all) {
    latest = std::max(latest, way_among(setting, a, b, bytes, heads.size() - 1, all));
  }
  return latest;
}

double native_latency(const Network& network, int members) {
  return rounds(members) * (network.link_latency + network.message_cost);
}

double exchange_latency(const Network& network, int members) {
  return rounds(members) * (network.link_latency + 2 * network.message_cost);
}

double queueing(const Network& network, int messages) {
  return network.paths == 0 ? 0 : messages * network.message_cost / network.paths;
}

double opening(const Network& network, int peers) {
  // An alltoall of two clusters of 256 ranks took 174 s to open them all. Ranks waited for turns on
  // two cores (29 November 2026).
  constexpr int kFew = 128;
  constexpr double kRing = 20e-6;  // the kernel provides its memory
  return network.one_host && peers > kFew ? peers * kRing : 0;
}

double crowding(const Setting& setting, double far_bytes) {
  return far_bytes / wan_rate(setting.network, largest_cluster(setting.layout)) / 5;
}

double all_at_once(const Setting& setting, double link_bytes, double far_bytes) {
  const Network& network = setting.network;
  const double links = link_bytes / network.link_bandwidth;
  if (setting.layout.clusters() == 1) return links;
  const double far = far_bytes / wan_rate(network, largest_cluster(setting.layout));
  return network.wan_latency + std::max(links, far);
}

double native_bcast(const Network& network, int members, std::size_t bytes) {
  return tree_or_halving(network, members, bytes);
}

double native_reduce(const Network& network, int members, std::size_t bytes) {
  return tree_or_halving(network, members, bytes);
}

double native_gather(const Network& network, int members, std::size_t bytes) {
  if (members < 2) return 0;
  return rounds(members) * (network.link_latency + network.message_cost) +
         link_time(network, bytes) * (members - 1) / members;
}

double native_allgather(const Network& network, int members, std::size_t bytes) {
  return exchange_latency(network, members) + link_time(network, bytes) * (members - 1) / members;
}

double noticed_late(const Setting& setting) {
  constexpr double kShare = 0.05;
  return setting.layout.clusters() > 1 ? kShare * setting.network.wan_latency : 0;
}

double explicit_steps(const Network& network, int members, std::size_t bytes) {
  if (members < 2) return 0;
  return rounds(members) * (network.link_latency + 2 * network.message_cost) +
         link_time(network, bytes) * (members - 1) / members;
}

int carried_senders(const Layout& layout, const Network& network) {
  // Headers and measuring: ten links of 94.1 Mbit/s on 941.
  constexpr double kTolerance = 0.05;
  const double carried = network.wan_bandwidth / network.link_bandwidth + kTolerance;
  const int most = smallest_cluster(layout);
  return carried >= most ? most : std::max(1, static_cast<int>(carried));
}

double combining(const Setting& setting) {
  return static_cast<double>(setting.bytes()) * setting.layout.size() / 1e9;
}

double folding(const Setting& setting, double vectors) {
  // A sum of 2 MiB of doubles takes 400 us (November 2026).
  constexpr double kSecondsAByte = 0.2e-9;
  return vectors * static_cast<double>(setting.bytes()) * kSecondsAByte;
}

double reduced_by_cluster(const Setting& setting) {
  const int members = largest_cluster(setting.layout);
  return native_reduce(setting.network, members, setting.bytes()) +
         folding(setting, rounds(members) + setting.layout.clusters() - 1);
}

}  // namespace isthmus::coll
