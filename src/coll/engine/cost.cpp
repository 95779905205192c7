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

double native_latency(const Network& network, int members) {
  return rounds(members) * (network.link_latency + network.message_cost);
}

double exchange_latency(const Network& network, int members) {
  return rounds(members) * (network.link_latency + 2 * network.message_cost);
}

double queueing(const Network& network, int messages) {
  return network.paths == 0 ? 0 : messages * network.message_cost / network.paths;
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

double far_copy(const Setting& setting, std::size_t bytes, int senders) {
  const int others = setting.layout.clusters() - 1;
  if (others == 0) return 0;
  const Network& network = setting.network;
  const double size = static_cast<double>(bytes);
  const double wires = size / wan_rate(network, senders);
  const double links = size * others / (senders * network.link_bandwidth);
  return network.wan_latency + network.message_cost * others + std::max(wires, links);
}

double explicit_steps(const Network& network, int members, std::size_t bytes) {
  if (members < 2) return 0;
  return rounds(members) * (network.link_latency + 2 * network.message_cost) +
         link_time(network, bytes) * (members - 1) / members;
}

int senders_of(const Setting& setting, const Parameters& parameters) {
  const int most = smallest_cluster(setting.layout);
  return parameters.senders > 0 ? std::min(parameters.senders, most) : most;
}

double combining(const Setting& setting) {
  return static_cast<double>(setting.bytes()) * setting.layout.size() / 1e9;
}

}  // namespace isthmus::coll
