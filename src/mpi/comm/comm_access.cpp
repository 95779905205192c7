// MPI-4.1 section 7.4.1: what a communicator is.
#include "mpi/comm/group.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

int likeness(const GridComm& first, const GridComm& second) {
  if (first.context == second.context) return MPI_IDENT;
  switch (first.group.compare(second.group)) {
    case core::Likeness::Identical:
      return MPI_CONGRUENT;
    case core::Likeness::Similar:
      return MPI_SIMILAR;
    case core::Likeness::Unequal:
      break;
  }
  return MPI_UNEQUAL;
}

}  // namespace

ISTHMUS_MPI(Comm_rank)(MPI_Comm comm, int* rank) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr || rank == nullptr) return native.Comm_rank(comm, rank);
  *rank = found->rank;
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Comm_size)(MPI_Comm comm, int* size) {
  const GridComm* const found = grid_comm(comm);
  if (found == nullptr || size == nullptr) return native.Comm_size(comm, size);
  *size = found->size;
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Comm_group)(MPI_Comm comm, MPI_Group* group) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found || group == nullptr) return native.Comm_group(comm, group);
  return shielded(comm, "MPI_Comm_group", [&] { return make_group(found->group, group); });
}

ISTHMUS_MPI(Comm_compare)(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  const GridCommRef first = shared_grid_comm(comm1);
  const GridCommRef second = shared_grid_comm(comm2);
  if (first && second && result != nullptr) {
    *result = likeness(*first, *second);
    return MPI_SUCCESS;
  }
  // Where one is of the grid, the native answer tells only whether the other is valid.
  const int code = native.Comm_compare(comm1, comm2, result);
  if (code == MPI_SUCCESS && result != nullptr && (first || second)) *result = MPI_UNEQUAL;
  return code;
}

}  // namespace isthmus::face
