// Of the algorithms for long messages of bcast, reduce and allreduce.
#include <algorithm>
#include <cmath>

#include "coll/engine/cost.hpp"
#include "coll/engine/segment_size.hpp"

namespace isthmus::coll {
namespace {

/// `bytes` to each other cluster, shared by `senders` members.
double far_copy(const Setting& setting, std::size_t bytes, int senders) {
  const int others = setting.layout.clusters() - 1;
  if (others == 0) return 0;
  const Network& network = setting.network;
  const double size = static_cast<double>(bytes);
  const double wires = size / wan_rate(network, senders);
  const double links = size * others / (senders * network.link_bandwidth);
  return network.wan_latency + network.message_cost * others + std::max(wires, links);
}

/// Scatter or allgather by log(members) explicit steps.
double explicit_steps(const Network& network, int members, std::size_t bytes) {
  if (members < 2) return 0;
  return rounds(members) * (network.link_latency + 2 * network.message_cost) +
         link_time(network, bytes) * (members - 1) / members;
}

int smallest_cluster(const Layout& layout) {
  std::size_t least = layout.members(0).size();
  for (int c = 1; c < layout.clusters(); ++c) least = std::min(least, layout.members(c).size());
  return static_cast<int>(least);
}

int senders_of(const Setting& setting, const Parameters& parameters) {
  const int most = smallest_cluster(setting.layout);
  return parameters.senders > 0 ? std::min(parameters.senders, most) : most;
}

}  // namespace

double cost_bcast_farfirst(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) +
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
         far_copy(setting, setting.bytes(), senders_of(setting, parameters));
}

namespace {

int further_clusters(const Setting& setting) { return std::max(0, setting.layout.clusters() - 2); }

/// Along stripes, when every member's link carries `load` times the message.
double striped(const Setting& setting, const Parameters& parameters, double load) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const std::size_t bytes = setting.bytes();
  const std::size_t segment = striped_segment(setting.layout, network, bytes, parameters);
  const double segments = static_cast<double>(bytes) / static_cast<double>(segment);
  const double links = link_time(network, bytes) * load;
  const double wires = static_cast<double>(bytes) / wan_rate(network, members);
  const double handling = segments * 2 * network.stream_cost;
  const double fill = (members + 1) * (link_time(network, std::min(segment, bytes)));
  return network.wan_latency + 2 * network.link_latency + std::max({links, wires, handling}) +
         fill + (members + 2) * network.message_cost;
}

}  // namespace

double cost_bcast_striped(const Setting& setting, const Parameters& parameters) {
  // A relay's link carries one more crossing for each further cluster.
  const int relays = std::max(1, smallest_cluster(setting.layout) - 1);
  return striped(setting, parameters, 1 + static_cast<double>(further_clusters(setting)) / relays);
}

double cost_bcast_chained(const Setting& setting, const Parameters& parameters) {
  return striped(setting, parameters, 1) + further_clusters(setting) * setting.network.wan_latency;
}

double cost_reduce_striped(const Setting& setting, const Parameters& parameters) {
  return cost_bcast_striped(setting, parameters);
}

double cost_allreduce_two_tier(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return far_message(setting, setting.bytes()) +
         4 * explicit_steps(setting.network, members, setting.bytes());
}

double cost_allreduce_rabenseifner(const Setting& setting, const Parameters&) {
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const int members = largest_cluster(layout);
  const bool aligned = layout.blocks() && members == smallest_cluster(layout) &&
                       rounds(members) < rounds(members + 1);
  // Aligned, what crosses are the last halves: together the vector. Else whole vectors of many.
  const double crossing = static_cast<double>(setting.bytes()) / network.wan_bandwidth *
                          (aligned ? layout.clusters() - 1 : members);
  const int steps = aligned ? rounds(layout.clusters()) : rounds(layout.size());
  return 2 * explicit_steps(network, layout.size(), setting.bytes()) + crossing +
         2 * steps * network.wan_latency;
}

double cost_allreduce_rabenseifner_wan(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return 2 * explicit_steps(setting.network, members, setting.bytes()) +
         far_copy(setting, setting.bytes(), senders_of(setting, parameters));
}

double cost_allreduce_pipelined(const Setting& setting, const Parameters& parameters) {
  const Layout& layout = setting.layout;
  const Network& network = setting.network;
  const int members = largest_cluster(layout);
  const std::size_t bytes = setting.bytes();
  const std::size_t segment = pipelined_segment(layout, network, bytes, parameters);
  const double segments = std::ceil(static_cast<double>(bytes) / static_cast<double>(segment));
  const int fewest = smallest_cluster(layout);
  const double inside = link_time(network, bytes) * (members - 1) / members;
  const double links = link_time(network, bytes) * (layout.clusters() - 1) / fewest;
  const double wires = static_cast<double>(bytes) / wan_rate(network, fewest);
  const double messages = 4 * members;  // of a segment
  // What crosses does so under the reduce-scatter, but for the last segment.
  const double crossing = std::max(links, wires);
  const double number = std::max(segments, 1.0);
  const double late = std::max(crossing - inside, crossing / number);
  // The first segments' gathers run while the last ones cross.
  const double gather = std::max(inside, network.wan_latency + inside / number);
  const double through = std::max(inside + late + gather,
                                  segments * messages * network.stream_cost + network.wan_latency);
  return 2 * network.link_latency + messages * network.message_cost + through;
}

}  // namespace isthmus::coll
