// The algorithms of MPI_Reduce_scatter: coroutines with the arguments of collectives.hpp.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task reduce_scatter_direct(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                           Reduction&, Parameters);
Task reduce_scatter_fan(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                        Reduction&, Parameters);
/// Partial results of clusters: commutative operations, or clusters that are blocks of ranks.
Task reduce_scatter_intervals(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                              Reduction&, Parameters);

}  // namespace isthmus::coll
