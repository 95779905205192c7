// What algorithms over a commons share.
#pragma once

#include "coll/engine/algorithm.hpp"
#include "coll/engine/commons.hpp"

namespace isthmus::coll {

/// Combines a part of the posts of ranks 0 to `last`, which are vectors of `size` bytes, in rank
/// order: `into.size()` bytes from `first` on, which are `count` elements.
void combine_posts(const Commons& commons, int last, std::size_t size, std::size_t first,
                   Bytes into, std::size_t count, Reduction& reduction);

/// Estimated seconds of so many rounds in which a rank copies and combines so many bytes.
double cost_of_rounds(const Setting& setting, int rounds, double copied, double combined = 0);

}  // namespace isthmus::coll
