// MPI-4.1 section 7.4.1: the properties of a communicator.
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

int likeness(const GridComm& first, const GridComm& second) {
  if (first.context == second.context) return MPI_IDENT;
  if ((first.inter == nullptr) != (second.inter == nullptr)) return MPI_UNEQUAL;
  const core::Likeness own = own_group(first).compare(own_group(second));
  const core::Likeness remote = first.group.compare(second.group);
  if (own == core::Likeness::Unequal || remote == core::Likeness::Unequal) return MPI_UNEQUAL;
  const bool congruent = own == core::Likeness::Identical && remote == core::Likeness::Identical;
  return congruent ? MPI_CONGRUENT : MPI_SIMILAR;
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
  *size = own_group(*found).size();
  return MPI_SUCCESS;
}

ISTHMUS_MPI(Comm_group)(MPI_Comm comm, MPI_Group* group) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found || group == nullptr) return native.Comm_group(comm, group);
  return shielded(comm, "MPI_Comm_group",
                  [&] { return make_group(own_group(*found), found->session, group); });
}

ISTHMUS_MPI(Comm_compare)(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  const GridCommRef first = shared_grid_comm(comm1);
  const GridCommRef second = shared_grid_comm(comm2);
  if (first && second && result != nullptr) {
    *result = likeness(*first, *second);
    return MPI_SUCCESS;
  }
  // If one of them is a grid communicator, the native answer shows only whether the other is valid.
  const int code = native.Comm_compare(comm1, comm2, result);
  if (code == MPI_SUCCESS && result != nullptr && (first || second)) *result = MPI_UNEQUAL;
  return code;
}

}  // namespace isthmus::face
