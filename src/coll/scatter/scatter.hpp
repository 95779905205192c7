// The algorithms of MPI_Scatter: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task scatter_direct(Party&, ConstBytes all, Sizes sizes, Bytes mine, int root, Parameters);

}  // namespace isthmus::coll
