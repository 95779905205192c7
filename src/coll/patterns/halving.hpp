// The log(p)-step stages of van de Geijn's and Rabenseifner's algorithms, within a list of ranks: a
// cluster's, or all. Every rank of the list passes the same arguments except for memory.
#pragma once

#include <bit>

#include "coll/patterns/share.hpp"

namespace isthmus::coll {

/// The part of each rank after `scatter_by_halving`: the root's first, then in the order of the
/// list, beginning again at its front.
std::vector<Share> shares_after_scatter(std::span<const int> ranks, int root, std::size_t bytes);
/// The root, a rank, has `data`; each rank gets its share. Holders send the further half of their
/// data, again and again.
Task scatter_by_halving(Party& party, std::vector<int> ranks, int root, Bytes data, int tag);

/// The bytes that pass through the rank at `place` of these shares in that scatter; they begin with
/// its own share. For a moment it holds all of them.
Share passed_in_scatter(const std::vector<Share>& shares, std::size_t place);

/// Every rank of `shares` has its share and gets all. Bruck's pattern: twice as much in each step,
/// for any number of ranks.
Task gather_by_doubling(Party& party, std::vector<Share> shares, Bytes data, int tag);

/// The number of ranks that hold a part after `reduce_by_halving` among `ranks` ranks.
inline std::size_t parts_after_reduce(std::size_t ranks) { return std::bit_floor(ranks); }
/// The interval of each rank after `reduce_by_halving`, `count` elements of `unit` bytes; ranks
/// that hold nothing then are left out.
std::vector<Share> shares_after_reduce(std::span<const int> ranks, std::size_t count,
                                       std::size_t unit);
/// `vector` holds the rank's operands, and in its share the result over the list, in the order of
/// the list; the rest of it is used up. Neighbours exchange halves first, so the order of operands
/// is kept. `unit` is the packed size of an element.
Task reduce_by_halving(Party& party, std::vector<int> ranks, Bytes vector, std::size_t count,
                       Reduction& reduction, int tag);

}  // namespace isthmus::coll
