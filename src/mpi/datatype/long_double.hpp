// Clusters whose `long double` differs (x86 and Arm) exchange everything else. Data that holds one
// is refused if it would pass between them.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Throws MpiError with MPI_ERR_TYPE when data that holds `long_double` (as long_double_in)
/// would pass between this process and a rank that has another one.
void check_long_double(const GridComm& g, int rank, const char* long_double);

/// The same for a collective with data of `type`. All members decide alike, for any part in it.
void check_long_double(const GridComm& g, MPI_Datatype type);

}  // namespace isthmus::face
