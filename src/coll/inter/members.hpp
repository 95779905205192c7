// The ranks that take part in the phases of an intercommunicator's collectives.
#pragma once

#include <numeric>
#include <vector>

#include "coll/inter/inter.hpp"

namespace isthmus::coll {

/// The ranks of a side.
inline std::vector<int> members_of(const TwoSides& sides, int side) {
  std::vector<int> members(static_cast<std::size_t>(sides.size_of(side)));
  std::iota(members.begin(), members.end(), sides.begin_of(side));
  return members;
}

/// A rank of one side and all of the other. The rank is the first of them, or the last.
inline std::vector<int> one_and_others(const TwoSides& sides, int one) {
  const int side = sides.side_of(one);
  std::vector<int> members = members_of(sides, 1 - side);
  members.insert(side == 0 ? members.begin() : members.end(), one);
  return members;
}

/// The sizes of the others' blocks, and 0 for the one; empty if no sizes are given.
inline Sizes with_one(const TwoSides& sides, int one, Sizes sizes) {
  if (!sizes.empty()) sizes.insert(sides.side_of(one) == 0 ? sizes.begin() : sizes.end(), 0);
  return sizes;
}

/// The place in its side of the rank that speaks with a rank of the other side: one in the same
/// cluster, if there is one.
inline int speaker_of(const Party& party, const TwoSides& sides, int side, int with) {
  const Layout& layout = party.layout();
  for (int i = 0; i < sides.size_of(side); ++i) {
    if (layout.cluster_of(sides.begin_of(side) + i) == layout.cluster_of(with)) return i;
  }
  return 0;
}

}  // namespace isthmus::coll
