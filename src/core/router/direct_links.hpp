// The links by which one process reaches processes of other clusters without gateways.
#pragma once

#include <cstddef>
#include <vector>

#include "core/world/world.hpp"

namespace isthmus::core {

class DirectLinks {
 public:
  struct Own {
    const Direct* link;
    std::size_t cluster;  ///< at its other end
  };

  /// The world outlives this object. It may grow: direct links are between its first clusters.
  /// Throws as World::cluster_of_node.
  DirectLinks(const World& world, NodeId self) : world_(world) {
    const std::size_t mine = world.cluster_of_node(self);
    for (const Direct& link : world.direct) {
      if (link.a == mine || link.b == mine) own_.push_back({&link, link.a + link.b - mine});
    }
  }

  const std::vector<Own>& own() const { return own_; }
  /// Null: only gateways lead there.
  const Direct* to(NodeId peer) const {
    if (peer >= static_cast<NodeId>(world_.size())) return nullptr;
    const std::size_t cluster = world_.cluster_of(static_cast<int>(peer));
    for (const Own& each : own_) {
      if (each.cluster == cluster) return each.link;
    }
    return nullptr;
  }
  /// Processes at the other ends: those of this host, or the others.
  int peers(bool on_this_host) const {
    int sum = 0;
    for (const Own& each : own_) {
      if (each.link->shm == on_this_host) sum += world_.clusters[each.cluster].size;
    }
    return sum;
  }

 private:
  const World& world_;
  std::vector<Own> own_;
};

}  // namespace isthmus::core
