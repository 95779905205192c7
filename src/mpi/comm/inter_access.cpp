// MPI-4.1 section 7.6.1: the properties of an intercommunicator.
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// The handle has no other side natively: libraries are lenient there, or end the process.
void require_intercomm(const GridComm& comm) {
  require(comm.inter != nullptr, MPI_ERR_COMM, "the communicator is not an intercommunicator");
}

}  // namespace

ISTHMUS_MPI(Comm_test_inter)(MPI_Comm comm, int* flag) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found || !found->inter || flag == nullptr) return native.Comm_test_inter(comm, flag);
  *flag = 1;
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Comm_remote_size)(MPI_Comm comm, int* size) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found || size == nullptr) return native.Comm_remote_size(comm, size);
  return shielded(comm, "MPI_Comm_remote_size", [&] {
    require_intercomm(*found);
    *size = found->size;
  });
}

ISTHMUS_MPI(Comm_remote_group)(MPI_Comm comm, MPI_Group* group) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found || group == nullptr) return native.Comm_remote_group(comm, group);
  return shielded(comm, "MPI_Comm_remote_group", [&] {
    require_intercomm(*found);
    return make_group(found->group, found->session, group);
  });
}

}  // namespace isthmus::face
