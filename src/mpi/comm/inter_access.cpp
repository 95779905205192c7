// MPI-4.1 section 7.6.1: what an intercommunicator is.
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// The intercommunicator behind a handle; null for all other communicators.
GridCommRef find_intercomm(MPI_Comm comm) {
  GridCommRef found = shared_grid_comm(comm);
  return found && found->inter ? found : nullptr;
}

}  // namespace

ISTHMUS_MPI(Comm_test_inter)(MPI_Comm comm, int* flag) {
  const GridCommRef found = find_intercomm(comm);
  if (!found || flag == nullptr) return native.Comm_test_inter(comm, flag);
  *flag = 1;
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Comm_remote_size)(MPI_Comm comm, int* size) {
  const GridCommRef found = find_intercomm(comm);
  if (!found || size == nullptr) return native.Comm_remote_size(comm, size);
  *size = found->size;
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Comm_remote_group)(MPI_Comm comm, MPI_Group* group) {
  const GridCommRef found = find_intercomm(comm);
  if (!found || group == nullptr) return native.Comm_remote_group(comm, group);
  return shielded(comm, "MPI_Comm_remote_group",
                  [&] { return make_group(found->group, found->session, group); });
}

}  // namespace isthmus::face
