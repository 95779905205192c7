#include "mpi/comm/raise.hpp"

#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

/// Calls the program's handler with a communicator of this process alone: its own is gone.
void call_without_comm(MPI_Errhandler handler, int code) {
  MPI_Comm stand_in = MPI_COMM_NULL;
  {
    const Inside inside;
    if (native.Comm_dup(grid()->self, &stand_in) != MPI_SUCCESS) return;
    native.Comm_set_errhandler(stand_in, handler);
  }
  {
    const Outside outside;
    native.Comm_call_errhandler(stand_in, code);
  }
  const Inside inside;
  native.Comm_free(&stand_in);
}

}  // namespace

int raise(MPI_Comm comm, const GridComm* owner, int code, const char* function) {
  if (owner == nullptr || !owner->freed.load(std::memory_order_acquire)) {
    return raise(comm, code, function);
  }
  const Handling handling = handling_of(owner->last_handler);
  if (handling == Handling::Fatal) die("communicator (freed by the program)", code, function);
  if (handling == Handling::ByProgram) call_without_comm(owner->last_handler, code);
  return code;
}

// coverage: a fatal handler ends the whole grid
ISTHMUS_MPI(Comm_call_errhandler)(MPI_Comm comm, int errorcode) {
  if (grid_comm(comm) == nullptr) return native.Comm_call_errhandler(comm, errorcode);
  raise(comm, errorcode, "MPI_Comm_call_errhandler");
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
