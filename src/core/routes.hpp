// Which way frames take between clusters.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/world.hpp"

namespace isthmus::core {

/// Two clusters, as indices into World::clusters, whose gateways can reach each other.
struct ClusterLink {
  std::size_t a = 0;
  std::size_t b = 0;
};

struct Routes {
  /// next[g][c]: the gateway to which World::gateways[g] passes frames for cluster c; kNobody for
  /// its own cluster.
  std::vector<std::vector<NodeId>> next;
  /// The pairs of gateways that need a conduit, each once, the lower node first; ascending.
  std::vector<std::pair<NodeId, NodeId>> conduits;
};

/// Shortest ways over the links; no link listed means that all clusters are linked to each other.
/// The gateways of a cluster share its load: each has its own partner in a neighbouring cluster
/// and, where several ways are equally short, its own pick of them. The same on every node.
/// Throws std::invalid_argument with a sentence that names a cluster without a gateway, a link
/// that makes no sense, or the clusters that cannot reach each other.
Routes compute_routes(const World& world, std::span<const ClusterLink> links);

}  // namespace isthmus::core
