// World ranks, if a map orders them differently from the nodes.
#include <algorithm>
#include <stdexcept>

#include "core/world.hpp"

namespace isthmus::core {

int World::rank_of(NodeId process) const {
  const auto node = static_cast<int>(process);
  if (process >= static_cast<NodeId>(size())) return node;
  const Cluster& home = clusters[cluster_of(node)];
  return home.ranks.empty() ? node : home.ranks[static_cast<std::size_t>(node - home.first)];
}

Group World::group_of(int number) const {
  const auto mine = part(number);
  if (mine.empty()) return {};
  const int begin = mine.front().first;
  const int count = mine.back().first + mine.back().size - begin;
  if (mine.front().ranks.empty()) return Group::range(begin, count);
  std::vector<int> nodes(static_cast<std::size_t>(count));
  for (int node = begin; node < begin + count; ++node) {
    nodes[static_cast<std::size_t>(rank_of(static_cast<NodeId>(node)))] = node;
  }
  return Group::of(nodes);
}

std::string World::rank_name(NodeId process) const {
  return "rank " + std::to_string(rank_of(process));
}

void World::check_ranks() const {
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("the world description is wrong: " + why);
  };
  const auto mapped = [](const Cluster& cluster) { return !cluster.ranks.empty(); };
  if (std::none_of(clusters.begin(), clusters.end(), mapped)) return;
  std::vector<bool> seen(static_cast<std::size_t>(first_size()));
  for (const Cluster& cluster : clusters) {
    const std::string name = "cluster \"" + cluster.name + '"';
    if (cluster.part != 0 && mapped(cluster)) refuse(name + " was spawned, and has a map");
    if (cluster.part != 0) continue;
    if (cluster.ranks.size() != static_cast<std::size_t>(cluster.size)) {
      refuse(name + " has " + std::to_string(cluster.size) + " ranks, and " +
             std::to_string(cluster.ranks.size()) + " in the map");
    }
    if (!std::is_sorted(cluster.ranks.begin(), cluster.ranks.end())) {
      refuse(name + " has ranks that do not ascend");
    }
    for (const int rank : cluster.ranks) {
      if (rank >= first_size() || seen[static_cast<std::size_t>(rank)]) {
        refuse(name + " has rank " + std::to_string(rank) + ", which is not its own");
      }
      seen[static_cast<std::size_t>(rank)] = true;
    }
  }
}

}  // namespace isthmus::core
