// The algorithms of MPI_Reduce: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task reduce_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                   Parameters);
Task reduce_striped(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                    Parameters);

Task reduce_tree(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                 Parameters);

Task reduce_rabenseifner(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                         Parameters);
Task reduce_commons(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                    Parameters);

double cost_reduce_magpie(const Setting&, const Parameters&);

extern const Algorithm kReduceMagpie;
extern const Algorithm kReduceTree;
extern const Algorithm kReduceStriped;
extern const Algorithm kReduceRabenseifner;
extern const Algorithm kReduceCommons;

}  // namespace isthmus::coll
