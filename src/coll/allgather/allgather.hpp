// The algorithms of MPI_Allgather: coroutines with the arguments of collectives.hpp.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task allgather_magpie(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_counterparts(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_fan(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_tree(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_intervals(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);

double cost_allgather_counterparts(const Setting&, const Parameters&);
double cost_allgather_magpie(const Setting&, const Parameters&);
double cost_allgather_fan(const Setting&, const Parameters&);

}  // namespace isthmus::coll
