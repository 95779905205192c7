// The numbers of processes of a gateway's clusters that have joined, left and died. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/world/world.hpp"
#include "daemon/gateway/gateway.hpp"

namespace isthmus::daemon {

/// Clusters are indices into the world's. Each process is counted once by each function.
class Presence {
 public:
  /// Returns the number of those of its cluster that have joined.
  int join(std::size_t cluster) { return ++counts_[cluster].joined; }
  void leave(std::size_t cluster) { ++counts_[cluster].left; }
  /// It has joined, and its stream ended before it left; `ended` says so to users.
  void die(std::size_t cluster, const std::string& ended);

  /// The cluster has failed: nobody waits for its processes any more.
  void forget(std::size_t cluster) { forgotten_.insert(cluster); }

  /// All processes of this part of the world that are of these clusters.
  bool all_joined(const core::World& world, std::span<const std::size_t> clusters, int part) const;
  /// Some process has joined and not left.
  bool any_inside() const;
  std::vector<Attendance> attendance(const core::World& world,
                                     std::span<const std::size_t> clusters) const;

 private:
  struct Count {
    int joined = 0, left = 0, died = 0;
    std::string first_died{};
  };
  Count of(std::size_t cluster) const;

  std::map<std::size_t, Count> counts_;
  std::set<std::size_t> forgotten_;
};

}  // namespace isthmus::daemon
