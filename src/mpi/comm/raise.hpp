// Errors of communicators that the program may have freed meanwhile.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/process/error.hpp"

namespace isthmus::face {

/// As raise, also if the program has since freed `comm`, the handle of `owner`: then by its former
/// handler. `owner` is null for a native communicator.
int raise(MPI_Comm comm, const GridComm* owner, int code, const char* function);

}  // namespace isthmus::face
