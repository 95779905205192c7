#include "coll/engine/cost.hpp"

#include <algorithm>

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

double cost_bcast_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) + noticed_late(setting) +
         native_bcast(setting.network, members, setting.bytes());
}

double cost_bcast_direct(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const auto far = static_cast<double>(setting.layout.size() - members);
  const double bytes = far * static_cast<double>(setting.bytes());
  const double out = bytes / std::min(wan_rate(network, 1), network.link_bandwidth);
  return std::max(network.wan_latency + network.message_cost * far + out,
                  native_bcast(network, members, setting.bytes()));
}

double cost_reduce_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return native_reduce(setting.network, members, setting.bytes()) +
         far_message(setting, setting.bytes());
}

double cost_allreduce_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return cost_reduce_magpie(setting, {}) + noticed_late(setting) +
         native_bcast(setting.network, members, setting.bytes());
}

double cost_allreduce_fan(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const int far = setting.layout.size() - largest_cluster(setting.layout);
  const double more = bytes * (far - setting.layout.clusters() + 1);
  return cost_of_fan(setting, bytes, bytes) + crowding(setting, more);
}

}  // namespace isthmus::coll
