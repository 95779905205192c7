// When the processes of a part of the world may begin: all gateways have all of their own. And when
// gateways without a launcher may go: no process is left. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/world/world.hpp"
#include "daemon/gateway/presence.hpp"

namespace isthmus::daemon {

class Readiness {
 public:
  /// More than any grid has. The bound holds before the world is known, too.
  static constexpr std::size_t kMost = 65536;

  /// A gateway has all its processes of that part. False: that was known, or there are too many.
  bool learn(core::NodeId gateway, int part);
  const std::set<std::pair<core::NodeId, int>>& known() const { return full_; }

  /// A gateway has no process any more. False: as for `learn`.
  bool learn_done(core::NodeId gateway);
  /// That is so of a gateway of the cluster.
  bool done(const core::World& world, std::size_t cluster) const;
  /// That is so in each cluster of the run.
  bool all_done(const core::World& world) const;

  /// The cluster has failed: nobody waits for its processes any more.
  void forget(std::size_t cluster) { forgotten_.insert(cluster); }

  /// The parts that have become ready since the last call, for a gateway of these clusters. One of
  /// none only forwards, and has the first part alone.
  std::vector<int> take_ready(const core::World& world, std::span<const std::size_t> clusters,
                              const Presence& presence);

 private:
  bool complete(const core::World& world, int part) const;

  std::set<std::pair<core::NodeId, int>> full_;
  std::set<core::NodeId> done_;
  std::set<int> ready_;
  std::set<std::size_t> forgotten_;
};

}  // namespace isthmus::daemon
