// The members of each cluster that speak with the other clusters, n of each (Matsuda et al.,
// CLUSTER 2006, sections 2.4 and 2.5).
#pragma once

#include "coll/engine/algorithm.hpp"
#include "coll/patterns/share.hpp"

namespace isthmus::coll {

/// How many there are in every cluster: `wanted`, or the most there can be; where clusters differ,
/// as many as the smallest has.
int matched_senders(const Layout& layout, int wanted);

/// The vector in `senders` nearly equal parts, at as many of the ranks of `shares`, evenly chosen:
/// with all of them each keeps about what it holds. `shares` are in the order of the vector.
std::vector<Share> sender_shares(const std::vector<Share>& shares, int senders, std::size_t bytes,
                                 std::size_t unit);

/// Every rank finds out the shares of all ranks in all clusters: what that takes it.
double planning(const Setting& setting);

}  // namespace isthmus::coll
