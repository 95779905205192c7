// The trees that striped algorithms send a message's segments along, dealt round: segment k
//
//   root --> relay k mod (members - 1), a member of the root's cluster
//   relay --> for each other cluster: its entry k mod members; then its own cluster's members
//   entry --> its cluster's other members
//
// or, where some clusters are near each other and others far, an entry to those that are below its
// own in the tree over clusters (engine/ways.hpp), before its own cluster. So each byte leaves the
// root once, crosses once to each cluster, and all members' links carry equal parts of the
// forwarding: each about the message once in and once out. With more than two clusters a relay's
// link would carry more; chained, it sends to one entry only, which passes the segment on to the
// next cluster's, beginning with another cluster in each round of the relays; where some clusters
// are near each other and others far, always in the same line, which crosses what is far once.
#pragma once

#include <vector>

#include "coll/engine/algorithm.hpp"
#include "coll/engine/party.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {

class Stripes {
 public:
  /// `tree` over the clusters, from the root's. Chained: not by it, but in `line`, or where that is
  /// empty in turns.
  Stripes(const Layout& layout, int root, ClusterTree tree, bool chained = false,
          const std::vector<int>& line = {});

  std::size_t relays() const { return relays_.size(); }
  /// The root itself where it is alone in its cluster.
  int relay(std::size_t k) const { return relays_[k % relays_.size()]; }
  int entry(int cluster, std::size_t k) const {
    const auto members = layout_.members(cluster);
    return members[k % members.size()];
  }
  /// Whom `rank` has segment k from; -1 for the root.
  int source(int rank, std::size_t k) const;
  /// How often segment k has crossed between clusters when `rank` has it.
  int crossings(int rank, std::size_t k) const;
  /// Whom `rank` passes segment k on to, those in other clusters first.
  std::vector<int> targets(int rank, std::size_t k) const;
  /// Whom `cluster`'s entries have their segments from.
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

/// The clusters but `home`, each the nearest to the one before it of those that are left; empty
/// where ways do not differ.
std::vector<int> line_of_stripes(const Ways& ways, int home, std::size_t bytes);

/// Of a message along stripes where every member's link carries `load` times the message, which
/// crosses with `rate` bytes a second and is under way for `latency` seconds at the longest.
double cost_of_stripes(const Setting& setting, const Parameters& parameters, double load,
                       double latency, double rate);

}  // namespace isthmus::coll
