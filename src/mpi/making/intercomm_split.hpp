// Splitting an intercommunicator, which is also how MPI_Comm_create makes its own.
#pragma once

#include "mpi/comm/inter.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// MPI_Comm_split of an intercommunicator: the members of both sides with one colour make a new
/// one, unless one side has no member of it (MPI-4.1 section 7.6.1). As split() otherwise.
int split_intercomm(const GridCommRef& parent, int colour, int key, MPI_Comm* result);

}  // namespace isthmus::face
