// The trees that striped algorithms send a message's segments along, in turn. Segment k takes
//
//   root --> relay k mod (members - 1), a member of the root's cluster
//   relay --> for each other cluster: its entry k mod members; then its own cluster's members
//   entry --> its cluster's other members
//
// If some clusters are near each other and others far, an entry sends to those below its own in the
// tree over clusters (engine/ways.hpp), before its own cluster. So each byte leaves the root once
// and crosses once to each cluster. All members' links carry equal parts of the forwarding: each
// about the message once in and once out. With more than two clusters a relay's link would carry
// more. Chained, it sends to one entry only, which passes the segment on to the next cluster's
// entry. Each round of the relays begins with another cluster. If some clusters are near and others
// far, the line is always the same, which crosses long ways once.
#pragma once

#include <vector>

#include "coll/engine/algorithm.hpp"
#include "coll/engine/party.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {

class Stripes {
 public:
  /// `tree` over the clusters, from the root's. Chained: along `line` instead of the tree, or, if
  /// `line` is empty, beginning with each cluster in turn.
  Stripes(const Layout& layout, int root, ClusterTree tree, bool chained = false,
          const std::vector<int>& line = {});

  std::size_t relays() const { return relays_.size(); }
  /// The root itself if it is alone in its cluster.
  int relay(std::size_t k) const { return relays_[k % relays_.size()]; }
  int entry(int cluster, std::size_t k) const {
    const auto members = layout_.members(cluster);
    return members[k % members.size()];
  }
  /// The rank that sends segment k to `rank`; -1 for the root.
  int source(int rank, std::size_t k) const;
  /// The number of crossings between clusters before segment k reaches `rank`.
  int crossings(int rank, std::size_t k) const;
  /// The ranks that `rank` passes segment k on to, those in other clusters first.
  std::vector<int> targets(int rank, std::size_t k) const;
  /// The rank that sends segment k to `cluster`'s entry.
  int sender(int cluster, std::size_t k) const;
  const ClusterTree& tree() const { return tree_; }
  const Layout& layout() const { return layout_; }
  int root() const { return root_; }

 private:
  /// The entry that has segment k `step` crossings after the relay.
  int entry_at(std::size_t step, std::size_t k) const;
  /// Chained, after how many crossings `cluster` has segment k, less one.
  std::size_t step_of(int cluster, std::size_t k) const;

  const Layout& layout_;
  int root_, home_;
  ClusterTree tree_;
  bool chained_;
  std::vector<int> relays_;
  std::vector<int> others_;  // clusters, as segments go from one to the next
  bool in_turns_;            // another of them is the first in each round
};

/// The tree for a message of `bytes` to or from `root`.
ClusterTree tree_of_stripes(const Layout& layout, const Network& network, int root,
                            std::size_t bytes);

/// The clusters but `home`, each the nearest to the one before it of those that are left; empty if
/// ways do not differ.
std::vector<int> line_of_stripes(const Ways& ways, int home, std::size_t bytes);

/// Seconds for a message along stripes. Every member's link carries `load` times the message, which
/// crosses at `rate` bytes a second with a latency of at most `latency` seconds.
double cost_of_stripes(const Setting& setting, const Parameters& parameters, double load,
                       double latency, double rate);

}  // namespace isthmus::coll
