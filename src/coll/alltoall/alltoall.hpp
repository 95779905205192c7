// The algorithms of MPI_Alltoall: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

/// Blocks of one size only.
Task alltoall_combined(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                       Parameters);
/// Blocks of one size only.
Task alltoall_fan(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes, Parameters);
Task alltoall_direct(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes, Parameters);
/// Blocks of one size only.

double cost_alltoall_direct(const Setting&, const Parameters&);

}  // namespace isthmus::coll
