#include "core/routes.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>

namespace isthmus::core {

namespace {

constexpr std::size_t kFar = SIZE_MAX;
using Graph = std::vector<std::set<std::size_t>>;  // neighbours by cluster

std::string name(const World& world, std::size_t cluster) {
  return "\"" + world.clusters[cluster].name + "\"";
}

Graph make_graph(const World& world, std::span<const ClusterLink> links) {
  const std::size_t count = world.clusters.size();
  Graph graph(count);
  for (const ClusterLink& link : links) {
    if (link.a >= count || link.b >= count) {
      throw std::invalid_argument("a link names cluster number " +
                                  std::to_string(std::max(link.a, link.b)) +
                                  ", but there are only " + std::to_string(count));
    }
    if (link.a == link.b) {
      throw std::invalid_argument("a link joins cluster " + name(world, link.a) +
                                  " to itself; name two clusters");
    }
    graph[link.a].insert(link.b);
    graph[link.b].insert(link.a);
  }
  if (links.empty()) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (a != b) graph[a].insert(b);
      }
    }
  }
  return graph;
}

std::vector<std::size_t> distances_to(const Graph& graph, std::size_t destination) {
  std::vector<std::size_t> distance(graph.size(), kFar);
  distance[destination] = 0;
  std::deque<std::size_t> reached{destination};
  while (!reached.empty()) {
    const std::size_t at = reached.front();
    reached.pop_front();
    for (const std::size_t neighbour : graph[at]) {
      if (distance[neighbour] != kFar) continue;
      distance[neighbour] = distance[at] + 1;
      reached.push_back(neighbour);
    }
  }
  return distance;
}

void require_joined(const World& world, const Graph& graph) {
  if (graph.empty()) return;
  const auto distance = distances_to(graph, 0);
  std::string near;
  std::string far;
  for (std::size_t c = 0; c < graph.size(); ++c) {
    std::string& list = distance[c] == kFar ? far : near;
    list += (list.empty() ? "" : ", ") + name(world, c);
  }
  if (!far.empty()) {
    throw std::invalid_argument("the links leave the grid in parts: from " + near +
                                " there is no way to " + far + "; add a link that joins them");
  }
}

// Indices into World::gateways, by cluster.
std::vector<std::vector<std::size_t>> gateways_by_cluster(const World& world) {
  std::vector<std::vector<std::size_t>> of_cluster(world.clusters.size());
  for (std::size_t g = 0; g < world.gateways.size(); ++g) {
    of_cluster.at(world.gateways[g].cluster).push_back(g);
  }
  for (std::size_t c = 0; c < of_cluster.size() && of_cluster.size() > 1; ++c) {
    if (of_cluster[c].empty()) {
      throw std::invalid_argument("cluster " + name(world, c) +
                                  " has no gateway, so no other cluster can reach it");
    }
  }
  return of_cluster;
}

}  // namespace

Routes compute_routes(const World& world, std::span<const ClusterLink> links) {
  const Graph graph = make_graph(world, links);
  const auto of_cluster = gateways_by_cluster(world);
  require_joined(world, graph);

  Routes routes;
  routes.next.assign(world.gateways.size(), std::vector<NodeId>(world.clusters.size(), kNobody));
  std::set<std::pair<NodeId, NodeId>> conduits;
  for (std::size_t destination = 0; destination < graph.size(); ++destination) {
    const auto distance = distances_to(graph, destination);
    for (std::size_t cluster = 0; cluster < graph.size(); ++cluster) {
      if (cluster == destination) continue;
      std::vector<std::size_t> nearer;
      for (const std::size_t neighbour : graph[cluster]) {
        if (distance[neighbour] + 1 == distance[cluster]) nearer.push_back(neighbour);
      }
      const auto& own = of_cluster[cluster];
      for (std::size_t place = 0; place < own.size(); ++place) {
        const auto& there = of_cluster[nearer[place % nearer.size()]];
        const NodeId from = world.gateways[own[place]].node;
        const NodeId to = world.gateways[there[place % there.size()]].node;
        routes.next[own[place]][destination] = to;
        conduits.emplace(std::min(from, to), std::max(from, to));
      }
    }
  }
  routes.conduits.assign(conduits.begin(), conduits.end());
  return routes;
}

}  // namespace isthmus::core
