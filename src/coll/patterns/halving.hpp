// The log(p)-step stages of Rabenseifner's algorithm, within a list of ranks: a
// cluster's, or all. Every rank of the list passes the same arguments except for memory.
#pragma once

#include <bit>

#include "coll/patterns/share.hpp"

namespace isthmus::coll {

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
/// Gives all parts of the result of reduce_by_halving, `shares`, to every rank of the list.
Task gather_shares(Party& party, std::vector<int> ranks, std::vector<Share> shares, Bytes vector,
                   int tag);

}  // namespace isthmus::coll
