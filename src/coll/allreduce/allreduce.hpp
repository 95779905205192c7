// The algorithms of MPI_Allreduce: coroutines with the arguments of collectives.hpp.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task allreduce_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task allreduce_ordered(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task allreduce_counterparts(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                            Parameters);

double cost_allreduce_magpie(const Setting&, const Parameters&);

}  // namespace isthmus::coll
