// Shared by algorithms over a commons.
#pragma once

#include "coll/engine/algorithm.hpp"
#include "coll/engine/commons.hpp"

namespace isthmus::coll {

/// Bytes that a rank posts in one round if its data does not fit in one post. They stay in a cache
/// until the others have read them.
inline constexpr std::size_t kPostedPiece = std::size_t{128} << 10;

/// The number of bytes of a vector that go in one round: all if they fit in a post. Otherwise as
/// many whole elements of `unit` bytes as fit into `most`; 0: not even one does.
std::size_t posted_at_once(std::size_t bytes, std::size_t capacity, std::size_t most,
                           std::size_t unit = 1);
/// The estimated number of rounds for `bytes` bytes.
int rounds_for(std::size_t bytes, std::size_t capacity, std::size_t most);

/// Combines a part of the posts of ranks 0 to `last`, which are vectors of `size` bytes, in the
/// tree over ranks (rank_tree.hpp): `into.size()` bytes from `first` on, which are `count`
/// elements.
void combine_posts(const Commons& commons, int last, std::size_t size, std::size_t first,
                   Bytes into, std::size_t count, Reduction& reduction);

/// Estimated seconds of `rounds` rounds in which a rank copies and combines that many bytes.
double cost_of_rounds(const Setting& setting, int rounds, double copied, double combined = 0);

}  // namespace isthmus::coll
