// The algorithms of MPI_Barrier: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task barrier_tree(Party&, Parameters);
Task barrier_counterparts(Party&, Parameters);
Task barrier_fan(Party&, Parameters);

double cost_barrier_magpie(const Setting&, const Parameters&);

}  // namespace isthmus::coll
