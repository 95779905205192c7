// The algorithms of MPI_Bcast: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task bcast_magpie(Party&, Bytes data, int root, Parameters);

double cost_bcast_magpie(const Setting&, const Parameters&);
double cost_bcast_striped(const Setting&, const Parameters&);

}  // namespace isthmus::coll
