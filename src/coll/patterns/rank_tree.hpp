// The order of reproducible reductions: a binary tree over ranks. The left child of a node has as
// many ranks as the largest power of two below the node's number. So the tree depends on the number
// of ranks alone, and the left operand always has the lower ranks.
#pragma once

#include <vector>

#include "coll/engine/buffer.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// The ranks first..last-1: those below a node of the tree.
struct RankRange {
  int first, last;
  bool operator==(const RankRange&) const = default;
};

/// The beginning of a node's right child; the node has several ranks.
int middle_of(RankRange node);

/// The largest subtrees with all ranks in one cluster, ascending. Together they hold all ranks.
std::vector<RankRange> cluster_subtrees(const Layout& layout);
/// Those of one cluster.
std::vector<RankRange> cluster_subtrees(const Layout& layout, int cluster);

/// The value of a subtree.
struct RankValue {
  RankRange ranks;
  Bytes vector;
};

/// Combines the values of adjacent subtrees to that of `node`, which they fill; ascending. The
/// vectors of `count` elements are overwritten; one of them has the result.
Bytes combine_in_tree(std::span<const RankValue> values, RankRange node, Reduction& reduction,
                      std::size_t count);

/// The rows of `rows` are the vectors of all ranks, of `size` bytes and `count` elements. Row r
/// becomes the value of the tree of ranks 0 to r.
void prefixes_in_tree(Buffer& rows, std::size_t size, Reduction& reduction, std::size_t count);

/// The value of the tree over all ranks, in `out` of each of the `collectors`. `in` and `out` are
/// whole vectors. A cluster's subtrees are computed there; their values go straight to the
/// collectors. `tag` is for all messages.
Task collect_in_tree(Party& party, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction, std::vector<int> collectors, int tag);

}  // namespace isthmus::coll
