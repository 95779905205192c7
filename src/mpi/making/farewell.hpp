// The end of MPI_Comm_disconnect if members are of several runs: afterwards each run may end in any
// way, and the others go on.
#pragma once

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// After a meeting of all members. When it returns, all have left that meeting; members of a run
/// that ends meanwhile are not waited for. Throws MpiError.
void bid_farewell(const GridCommRef& comm);

}  // namespace isthmus::face
