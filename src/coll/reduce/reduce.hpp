// The algorithms of MPI_Reduce: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task reduce_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                   Parameters);
Task reduce_ordered(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                    Parameters);

double cost_reduce_magpie(const Setting&, const Parameters&);

}  // namespace isthmus::coll
