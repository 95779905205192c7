// Estimated times of the collectives that move blocks.
#include <algorithm>

#include "coll/engine/cost.hpp"

namespace isthmus::coll {

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

namespace {

struct Shape {
  explicit Shape(const Setting& setting)
      : ranks(setting.layout.size()),
        members(largest_cluster(setting.layout)),
        others(setting.layout.clusters() - 1),
        bytes(static_cast<double>(setting.bytes())) {}
  int ranks, members, others;
  double bytes;
};

}  // namespace

double cost_barrier_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return 2 * native_bcast(setting.network, members, 0) + far_message(setting, 0);
}

double cost_barrier_counterparts(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  return exchange_latency(setting.network, shape.members) +
         2 * shape.others * setting.network.message_cost +
         queueing(setting.network, shape.members) + all_at_once(setting, 0, 0);
}

double cost_of_fan(const Setting& setting, double in, double out) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  const int far = setting.layout.size() - members;
  const double messages = network.stream_cost * (members - 1 + setting.layout.size() - 1);
  const double at_leader = in * (members - 1) / network.link_bandwidth;
  return network.link_latency + network.message_cost + messages + queueing(network, far) +
         at_leader + all_at_once(setting, out * (setting.layout.size() - 1), out * far);
}

double cost_barrier_fan(const Setting& setting, const Parameters&) {
  return cost_of_fan(setting, 0, 0);
}

double cost_gather_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  const auto share = setting.bytes() * static_cast<std::size_t>(members) /
                     static_cast<std::size_t>(setting.layout.size());
  // All goes through the leader's memory, about this fast.
  const double passing = static_cast<double>(share) / 1e9;
  return native_gather(setting.network, members, share) + far_message(setting, share) + passing;
}

double cost_gather_direct(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  // Not known: as if long, since a leader in between costs long blocks more than it saves short
  // ones. Beyond a thousand ranks it does not.
  if (!setting.problem.bytes && shape.ranks <= 1024) return 0;
  const int far = shape.ranks - shape.members;
  const double far_bytes = shape.bytes * far / shape.ranks;
  return far * setting.network.message_cost +
         all_at_once(setting, shape.bytes * (shape.ranks - 1) / shape.ranks, far_bytes);
}

double cost_allgather_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return cost_gather_magpie(setting, {}) + native_bcast(setting.network, members, setting.bytes());
}

double cost_allgather_counterparts(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double share = shape.bytes * shape.members / shape.ranks;
  return native_allgather(setting.network, shape.members, static_cast<std::size_t>(share)) +
         2 * shape.others * setting.network.message_cost +
         queueing(setting.network, shape.members) +
         all_at_once(setting, share * shape.others, share * shape.members) +
         crowding(setting, share * (shape.members - 1));
}

double cost_allgather_fan(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double share = shape.bytes * shape.members / shape.ranks;
  return cost_of_fan(setting, shape.bytes / shape.ranks, share) +
         crowding(setting, share * (shape.ranks - shape.members - shape.others));
}

double cost_allgather_intervals(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double far_bytes = shape.bytes * shape.members / shape.ranks;
  return (shape.others + 1) * native_latency(setting.network, shape.members) +
         2 * shape.others * setting.network.message_cost +
         queueing(setting.network, shape.members) +
         all_at_once(setting, shape.bytes * (shape.ranks - 1) / shape.ranks, far_bytes);
}

double cost_alltoall_direct(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  constexpr double kHeaders = 80;  // of each message
  const double far_bytes = (shape.bytes / shape.ranks + kHeaders) * shape.members * shape.members;
  return 2 * (shape.ranks - 1) * setting.network.message_cost +
         queueing(setting.network, shape.members * shape.members) +
         all_at_once(setting, shape.bytes * (shape.ranks - 1) / shape.ranks, far_bytes);
}

double cost_alltoall_fan(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double copies = 10e-9 * shape.members * shape.ranks;
  return cost_of_fan(setting, shape.bytes, shape.bytes / shape.ranks * shape.members) + copies;
}

double cost_alltoall_combined(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const auto share = setting.bytes() / static_cast<std::size_t>(shape.ranks) *
                     static_cast<std::size_t>(shape.members * shape.members);
  const auto all = share * static_cast<std::size_t>(shape.others);
  // The leader copies every block twice, which takes some nanoseconds each.
  const double copies = 10e-9 * shape.members * shape.ranks;
  return 2 * native_gather(setting.network, shape.members, all) + far_message(setting, share) +
         copies;
}

}  // namespace isthmus::coll
