// Errors of communicators that the program may have freed meanwhile.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/process/error.hpp"

namespace isthmus::face {

/// As raise, also where the program has freed `comm`, the handle of `owner`, since: then by the
/// handler that it had. `owner` is null for a native communicator.
int raise(MPI_Comm comm, const GridComm* owner, int code, const char* function);

}  // namespace isthmus::face
