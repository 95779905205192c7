// Splitting a grid communicator, which is also how MPI_Comm_create and the functions of topologies
// make theirs.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// MPI_Comm_split, giving the result a topology. `colour` is not negative, or MPI_UNDEFINED.
/// Members of a side give the same topology (of a distributed graph, each its own part). Returns an
/// MPI error code (raised) or throws.
int split(const GridCommRef& parent, int colour, int key, const TopologyRef& topology,
          MPI_Comm* result);

}  // namespace isthmus::face
