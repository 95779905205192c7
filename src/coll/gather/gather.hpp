// The algorithms of MPI_Gather: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task gather_direct(Party&, ConstBytes mine, Bytes all, Sizes sizes, int root, Parameters);

double cost_gather_magpie(const Setting&, const Parameters&);
double cost_gather_direct(const Setting&, const Parameters&);

}  // namespace isthmus::coll
