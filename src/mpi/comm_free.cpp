// MPI-4.1 section 7.4.3: the end of communicators. Attribute delete functions run in the native
// call and still see the grid communicator behind the handle.
#include "coll/collectives.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "mpi/entry.hpp"
#include "mpi/making.hpp"
#include "mpi/shield.hpp"

namespace isthmus::face {
namespace {

template <class NativeFree>
int unmake(MPI_Comm* comm, NativeFree&& native_free) {
  const MPI_Comm handle = *comm;
  std::lock_guard unmaking(unmaking_mutex());
  const int code = native_free(comm);
  if (code == MPI_SUCCESS) unregister_comm(handle);
  return code;
}

}  // namespace

ISTHMUS_MPI(Comm_free)(MPI_Comm* comm) {
  if (depth != 0 || comm == nullptr || find_comm(*comm) == nullptr) return native.Comm_free(comm);
  return unmake(comm, native.Comm_free);
}

// coverage: waits until every rank of the communicator has called it
ISTHMUS_MPI(Comm_disconnect)(MPI_Comm* comm) {
  const GridCommRef found = depth == 0 && comm != nullptr ? share_comm(*comm) : nullptr;
  if (!found) return native.Comm_disconnect(comm);
  return shielded(*comm, "MPI_Comm_disconnect", [&] {
    if (*comm == MPI_COMM_WORLD) {
      throw coll::Failure(MPI_ERR_COMM, "MPI_COMM_WORLD cannot be disconnected");
    }
    meet(found);
    return unmake(comm, native.Comm_disconnect);
  });
}

}  // namespace isthmus::face
