#include "mpi/comm/raise.hpp"

#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

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
