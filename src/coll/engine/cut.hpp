// Cuts a cluster's data into intervals of about one size, one for each member of a cluster. So all
// members carry alike even if the blocks are uneven.
#pragma once

#include <algorithm>

#include "coll/engine/collectives.hpp"

namespace isthmus::coll {

/// `whole` cut into `parts` sizes that differ by at most 1.
inline Sizes even_sizes(std::size_t whole, std::size_t parts) {
  Sizes sizes(parts, whole / parts);
  for (std::size_t i = 0; i < whole % parts; ++i) ++sizes[i];
  return sizes;
}

/// Calls each(part, first, last) for every part of a cut that shares something with first..last;
/// `offsets` as offsets_of() gives them.
template <class Each>
void for_each_overlap(const Sizes& offsets, std::size_t first, std::size_t last, Each&& each) {
  if (first >= last) return;
  const auto after = std::upper_bound(offsets.begin(), offsets.end(), first);
  for (auto part = static_cast<std::size_t>(after - offsets.begin()) - 1;
       part + 1 < offsets.size() && offsets[part] < last; ++part) {
    const std::size_t from = std::max(first, offsets[part]);
    const std::size_t to = std::min(last, offsets[part + 1]);
    if (from < to) each(part, from, to);
  }
}

}  // namespace isthmus::coll
