#include "daemon/gateway/readiness.hpp"

#include <algorithm>

namespace isthmus::daemon {

bool Readiness::learn(core::NodeId gateway, int part) {
  return full_.size() < kMost && full_.emplace(gateway, part).second;
}

// One gateway speaks for its clusters: a process joins at all of them or at none. The others may
// not be heard here at all, when no chain of links leads to them.
bool Readiness::complete(const core::World& world, int part) const {
  std::set<std::size_t> clusters;
  for (const std::size_t cluster : forgotten_) {
    if (cluster < world.clusters.size() && world.clusters[cluster].part == part) {
      clusters.insert(cluster);
    }
  }
  for (const auto& gateway : world.gateways) {
    if (!full_.contains({gateway.node, part})) continue;
    for (const std::size_t cluster : gateway.clusters) {
      if (world.clusters[cluster].part == part) clusters.insert(cluster);
    }
  }
  return clusters.size() == world.part(part).size();
}

bool Readiness::learn_done(core::NodeId gateway) {
  return done_.size() < kMost && done_.insert(gateway).second;
}

bool Readiness::done(const core::World& world, std::size_t cluster) const {
  return std::ranges::any_of(world.gateways, [&](const core::Gateway& gateway) {
    return done_.contains(gateway.node) && gateway.serves(cluster);
  });
}

bool Readiness::all_done(const core::World& world) const {
  for (std::size_t index = 0; index < world.clusters.size(); ++index) {
    const bool counts = !forgotten_.contains(index) && !world.clusters[index].is_guest();
    if (counts && !done(world, index)) return false;
  }
  return true;
}

std::vector<int> Readiness::take_ready(const core::World& world,
                                       std::span<const std::size_t> clusters,
                                       const Presence& presence) {
  std::vector<int> parts;
  for (const std::size_t cluster : clusters) parts.push_back(world.clusters[cluster].part);
  if (clusters.empty()) parts.push_back(0);
  std::erase_if(parts, [&](int part) {
    return ready_.contains(part) || !presence.all_joined(world, clusters, part) ||
           !complete(world, part) || !ready_.insert(part).second;
  });
  return parts;
}

}  // namespace isthmus::daemon
