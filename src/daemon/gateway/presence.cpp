#include "daemon/gateway/presence.hpp"

#include <algorithm>

namespace isthmus::daemon {

void Presence::die(std::size_t cluster, const std::string& ended) {
  Count& count = counts_[cluster];
  if (count.died++ == 0) count.first_died = ended;
}

Presence::Count Presence::of(std::size_t cluster) const {
  const auto found = counts_.find(cluster);
  return found == counts_.end() ? Count{} : found->second;
}

bool Presence::all_joined(const core::World& world, std::span<const std::size_t> clusters,
                          int part) const {
  return std::all_of(clusters.begin(), clusters.end(), [&](std::size_t index) {
    const core::Cluster& cluster = world.clusters[index];
    return cluster.part != part || forgotten_.contains(index) ||
           (counts_.contains(index) && of(index).joined == cluster.size);
  });
}

bool Presence::any_inside() const {
  return std::any_of(counts_.begin(), counts_.end(), [this](const auto& entry) {
    return entry.second.joined > entry.second.left && !forgotten_.contains(entry.first);
  });
}

std::vector<Attendance> Presence::attendance(const core::World& world,
                                             std::span<const std::size_t> clusters) const {
  std::vector<Attendance> all;
  for (const std::size_t index : clusters) {
    const core::Cluster& cluster = world.clusters[index];
    const Count count = of(index);
    all.push_back(
        {cluster.name, cluster.size, count.joined, count.left, count.died, count.first_died});
  }
  return all;
}

}  // namespace isthmus::daemon
