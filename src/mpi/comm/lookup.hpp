// Which communicator a call of the program is about.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

/// The grid communicator that this call is about; null when it is for the native library.
inline GridComm* grid_comm(MPI_Comm comm) { return native_call() ? nullptr : find_comm(comm); }
/// As grid_comm, for callers that may outlive the handle.
inline GridCommRef shared_grid_comm(MPI_Comm comm) {
  const GridComm* const found = grid_comm(comm);
  return found == nullptr ? nullptr : share_comm(comm);
}

}  // namespace isthmus::face
