#include "core/router/route_table.hpp"

#include <algorithm>

namespace isthmus::core {

void RouteTable::add(std::size_t cluster, std::vector<NodeId> next) {
  several_ways_ = several_ways_ || next.size() > 1;
  next_[cluster] = std::move(next);
}

void RouteTable::add_like(std::size_t cluster, std::size_t like) {
  const auto route = next_.find(like);
  if (route == next_.end()) return;
  for (const NodeId node : route->second) {
    if (lost_.contains({node, like})) lost_.emplace(node, cluster);
  }
  add(cluster, route->second);
}

const std::vector<NodeId>& RouteTable::to(std::size_t cluster) const {
  static const std::vector<NodeId> none;
  const auto route = next_.find(cluster);
  return route == next_.end() ? none : route->second;
}

bool RouteTable::on_route(NodeId neighbour, std::size_t cluster) const {
  const auto& nodes = to(cluster);
  return std::find(nodes.begin(), nodes.end(), neighbour) != nodes.end();
}

bool RouteTable::leads(NodeId neighbour, std::size_t cluster, NodeId process) const {
  return on_route(neighbour, cluster) && !lost_.contains({neighbour, cluster}) &&
         !cut_off_.contains({neighbour, process});
}

std::vector<std::size_t> RouteTable::clusters_by(NodeId neighbour) const {
  std::vector<std::size_t> clusters;
  for (const auto& [index, nodes] : next_) {
    if (leads(neighbour, index)) clusters.push_back(index);
  }
  return clusters;
}

bool RouteTable::lose(NodeId neighbour, std::size_t cluster) {
  if (!on_route(neighbour, cluster)) return false;
  lost_.emplace(neighbour, cluster);
  return true;
}

bool RouteTable::cut_off(NodeId neighbour, std::size_t cluster, NodeId process) {
  return on_route(neighbour, cluster) && cut_off_.emplace(neighbour, process).second;
}

void RouteTable::forget(NodeId neighbour) {
  std::erase_if(lost_, [=](const auto& lost) { return lost.first == neighbour; });
  std::erase_if(cut_off_, [=](const auto& lost) { return lost.first == neighbour; });
}

}  // namespace isthmus::core
