// The tree of rank_tree.hpp for long vectors that may be cut. Each member of a cluster has a share
// of the vectors of all members, and computes the cluster's subtrees for it. The values go straight
// to the ranks that combine them. All links share the work.
#pragma once

#include <vector>

#include "coll/engine/algorithm.hpp"
#include "coll/patterns/share.hpp"

namespace isthmus::coll {

/// The value of the tree over all ranks, in shares: `targets` has one for each rank at most, the
/// same list on all ranks. `own` gets this rank's share. `in` is the whole vector.
Task share_in_tree(Party& party, ConstBytes in, Bytes own, std::size_t count, Reduction& reduction,
                   std::vector<Share> targets, int tag);

/// Even shares for the members of each cluster, or of one.
std::vector<Share> shares_of_clusters(const Layout& layout, std::size_t bytes, std::size_t unit);
std::vector<Share> shares_of_cluster(const Layout& layout, int cluster, std::size_t bytes,
                                     std::size_t unit);
/// This rank's share, or an empty one.
Share share_of(int rank, const std::vector<Share>& shares);
/// The sizes of shares, in their order.
std::vector<std::size_t> sizes_of(const std::vector<Share>& shares);

/// Estimated seconds of reductions by whole vectors and by shares, without the spreading of their
/// results.
double cost_collect_in_tree(const Setting&, const Parameters&);
double cost_share_in_tree(const Setting&, const Parameters&);

}  // namespace isthmus::coll
