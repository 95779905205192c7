// The algorithms of MPI_Reduce_scatter: coroutines with the arguments of collectives.hpp, and their
// rows. Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task reduce_scatter_magpie(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                           Reduction&, Parameters);
Task reduce_scatter_direct(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                           Reduction&, Parameters);
Task reduce_scatter_fan(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                        Reduction&, Parameters);
/// Partial results of clusters: commutative operations, or clusters that are blocks of ranks.
Task reduce_scatter_intervals(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                              Reduction&, Parameters);
Task reduce_scatter_commons(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                            Reduction&, Parameters);

extern const Algorithm kReduceScatterMagpie;
extern const Algorithm kReduceScatterDirect;
extern const Algorithm kReduceScatterFan;
extern const Algorithm kReduceScatterIntervals;
extern const Algorithm kReduceScatterCommons;

}  // namespace isthmus::coll
