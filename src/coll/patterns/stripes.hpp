// The trees that striped algorithms send a message's segments along, dealt round: segment k
//
//   root --> relay k mod (members - 1), a member of the root's cluster
//   relay --> for each other cluster: its entry k mod members; then its own cluster's members
//   entry --> its cluster's other members
//
// so each byte leaves the root once, crosses once to each cluster, and all members' links carry
// equal parts of the forwarding: each about the message once in and once out. With more than two
// clusters a relay's link would carry more; chained, it sends to one entry only, which passes the
// segment on to the next cluster's, beginning with another cluster in each round of the relays.
#pragma once

#include <vector>

#include "coll/engine/algorithm.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

class Stripes {
 public:
  Stripes(const Layout& layout, int root, bool chained = false);

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
  const Layout& layout() const { return layout_; }
  int root() const { return root_; }

 private:
  /// The entry that has segment k `step` crossings after the relay.
  int entry_at(std::size_t step, std::size_t k) const;
  /// Chained, after how many crossings `cluster` has segment k, less one.
  std::size_t step_of(int cluster, std::size_t k) const;

  const Layout& layout_;
  int root_, home_;
  bool chained_;
  std::vector<int> relays_;
  std::vector<int> others_;  // clusters
};

/// Of a message along stripes where every member's link carries `load` times the message.
double cost_of_stripes(const Setting& setting, const Parameters& parameters, double load);

}  // namespace isthmus::coll
