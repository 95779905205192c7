// Estimated times of reduce_scatter, scan and exscan.
#include <algorithm>

#include "coll/engine/cost.hpp"
#include "coll/engine/pipeline.hpp"

namespace isthmus::coll {

double cost_reduce_scatter_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  const auto clusters = static_cast<std::size_t>(setting.layout.clusters());
  return native_reduce(setting.network, members, setting.bytes()) +
         far_message(setting, setting.bytes() / clusters) +
         native_gather(setting.network, members, setting.bytes() / clusters);
}

double cost_reduce_scatter_direct(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);  // whole vectors cross
  const double far = static_cast<double>(setting.bytes()) / setting.layout.size() * members;
  return cost_alltoall_direct(setting, parameters) + crowding(setting, far * (members - 1));
}

double cost_reduce_scatter_fan(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_fan(setting, bytes, bytes / setting.layout.size());
}

double cost_reduce_scatter_intervals(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int ranks = setting.layout.size(), members = largest_cluster(setting.layout);
  const int clusters = setting.layout.clusters();
  const auto bytes = static_cast<double>(setting.bytes());
  return clusters * (network.link_latency + (members - 1) * network.message_cost) +
         2 * (clusters - 1) * network.message_cost + queueing(network, members) +
         all_at_once(setting, bytes * (ranks - 1) / ranks, bytes * members / ranks);
}

double cost_scan_magpie(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int members = largest_cluster(setting.layout);
  if (!setting.layout.blocks()) {  // all contributions to all leaders
    const auto vectors = setting.bytes() * static_cast<std::size_t>(members);
    return 2 * native_gather(network, members, vectors) + far_message(setting, vectors);
  }
  const double step =
      network.link_latency + network.message_cost + link_time(network, setting.bytes());
  return (members - 1) * step + far_message(setting, setting.bytes()) +
         native_bcast(network, members, setting.bytes());
}

double cost_scan_chain(const Setting& setting, const Parameters& parameters) {
  const Network& network = setting.network;
  const Layout& layout = setting.layout;
  const std::size_t wanted = parameters.segment > 0
                                 ? parameters.segment
                                 : pipeline_segment(setting.bytes(), layout.size(), network);
  const std::size_t segment = std::min(wanted, std::max<std::size_t>(setting.bytes(), 1));
  const double step = network.message_cost + link_time(network, segment);
  const double hop = step + network.link_latency;
  const std::size_t segments = (setting.bytes() + segment - 1) / segment;
  const auto steps = static_cast<double>(segments);
  return borders(layout) * network.wan_latency + (layout.size() - 1) * hop +
         steps * std::max(2 * network.message_cost + link_time(network, segment),
                          static_cast<double>(segment) / wan_rate(network, 1));
}

namespace {

/// Of the vectors of all ranks, about as quick as this.
double combining(const Setting& setting) {
  return static_cast<double>(setting.bytes()) * setting.layout.size() / 1e9;
}

}  // namespace

double cost_scan_counterparts(const Setting& setting, const Parameters& parameters) {
  const auto ranks = static_cast<std::size_t>(setting.layout.size());
  const Setting whole{
      setting.layout, setting.network, {Kind::Allgather, setting.bytes() * ranks, true}};
  return cost_allgather_counterparts(whole, parameters) + combining(setting);
}

double cost_scan_fan(const Setting& setting, const Parameters& parameters) {
  const auto ranks = static_cast<std::size_t>(setting.layout.size());
  const Setting whole{
      setting.layout, setting.network, {Kind::Allgather, setting.bytes() * ranks, true}};
  return cost_allgather_fan(whole, parameters) + combining(setting);
}

double cost_scan_transpose(const Setting& setting, const Parameters& parameters) {
  return 2 * cost_alltoall_direct(setting, parameters);
}

}  // namespace isthmus::coll
