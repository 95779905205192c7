// The communicator of the members that are left.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// MPIX_Comm_shrink: a communicator of the living members, in the order of their ranks. They agree
/// on these, and on whether all could make their parts. Returns an MPI error code (raised) or
/// throws.
int shrink(const GridCommRef& comm, MPI_Comm* newcomm);

}  // namespace isthmus::face
