// A gateway's routes to other clusters. Neighbours report the clusters and processes that they do
// not reach any more.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"

namespace isthmus::core {

/// For each cluster, by index: the neighbours that are next on a way there, the best first.
using Routes = std::map<std::size_t, std::vector<NodeId>>;

class RouteTable {
 public:
  /// Clusters that are served here need no route.
  void add(std::size_t cluster, std::vector<NodeId> next);
  /// A new cluster lies where another does: its routes and reports are the same. Does nothing if no
  /// route leads to the other.
  void add_like(std::size_t cluster, std::size_t like);

  const Routes& all() const { return next_; }
  /// Empty: no route.
  const std::vector<NodeId>& to(std::size_t cluster) const;
  bool several_ways() const { return several_ways_; }  ///< to some cluster
  /// No report is known.
  bool whole() const { return lost_.empty() && cut_off_.empty(); }
  /// The neighbour is on a route to the cluster, and has not reported that it does not reach the
  /// cluster, or a process of it.
  bool leads(NodeId neighbour, std::size_t cluster, NodeId process = kNobody) const;
  /// Clusters that it leads to.
  std::vector<std::size_t> clusters_by(NodeId neighbour) const;

  // ---- reports. False: the neighbour is on no route there --------------------------------------

  bool lose(NodeId neighbour, std::size_t cluster);
  /// Also false if the report is known.
  bool cut_off(NodeId neighbour, std::size_t cluster, NodeId process);
  /// The neighbour has restarted: its reports are void.
  void forget(NodeId neighbour);

 private:
  bool on_route(NodeId neighbour, std::size_t cluster) const;

  Routes next_;
  bool several_ways_ = false;
  std::set<std::pair<NodeId, std::size_t>> lost_;  // by neighbour: clusters
  std::set<std::pair<NodeId, NodeId>> cut_off_;    // by neighbour: processes
};

}  // namespace isthmus::core
