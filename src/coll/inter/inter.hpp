// The collectives of intercommunicators (MPI-4.1 section 6.2.3), over a party of both sides, the
// first side's ranks before the second's. Otherwise like those of coll/engine/collectives.hpp.
// Roots are ranks of the party. A rank on the root's side that is not the root takes no part and
// gives kNoPart as the root: it knows neither the root nor sizes.
#pragma once

#include <cstddef>

#include "coll/engine/collectives.hpp"

namespace isthmus::coll {

constexpr int kNoPart = -1;

/// The number of ranks on each side.
struct TwoSides {
  int first = 0, second = 0;

  int side_of(int rank) const { return rank < first ? 0 : 1; }
  int size_of(int side) const { return side == 0 ? first : second; }
  /// The rank in the party of a side's first.
  int begin_of(int side) const { return side == 0 ? 0 : first; }
};

Task inter_bcast(Party& party, TwoSides sides, Bytes data, int root);

/// `sizes`: of the blocks of the side away from the root, by its ranks; given at the root, or at
/// all that have a part.
Task inter_gather(Party& party, TwoSides sides, ConstBytes mine, Bytes all, Sizes sizes, int root);
Task inter_scatter(Party& party, TwoSides sides, ConstBytes all, Sizes sizes, Bytes mine, int root);

/// Everybody gets the blocks of the other side; `sizes` are theirs.
Task inter_allgather(Party& party, TwoSides sides, ConstBytes mine, Bytes all, Sizes sizes);
/// A block for and of each rank of the other side.
Task inter_alltoall(Party& party, TwoSides sides, ConstBytes out, Sizes out_sizes, Bytes in,
                    Sizes in_sizes);

/// The root gets the reduction of the other side's contributions.
Task inter_reduce(Party& party, TwoSides sides, ConstBytes in, Bytes out, std::size_t count,
                  Reduction& reduction, int root);
/// Each side gets that of the other. `counts` are those of my side, by rank; both sides' add up to
/// the same number.
Task inter_allreduce(Party& party, TwoSides sides, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction);
Task inter_reduce_scatter(Party& party, TwoSides sides, ConstBytes in, Bytes out,
                          std::vector<std::size_t> counts, Reduction& reduction);

}  // namespace isthmus::coll
