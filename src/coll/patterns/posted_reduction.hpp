// Shared by reductions to one rank and to all over a commons.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

inline constexpr int kToAll = -1;

/// Everybody posts its vector. If it is short, each rank that needs the result (`root` or all)
/// combines all vectors. If it is longer and may be cut, everybody combines a part and posts that
/// in a second round. Vectors that do not fit in a post go in pieces; a post has room for an
/// element.
Task reduce_by_posts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction, int root);
/// Whether it can be done.
bool posts_hold_elements(Party& party, ConstBytes in, std::size_t count);

double cost_reduce_by_posts(const Setting& setting, const Parameters&);

}  // namespace isthmus::coll
