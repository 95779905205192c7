// MPI-4.1 section 7.3.1: the properties of a group. Groups of this cluster go to the native
// library.
#include <string>

#include "coll/engine/party.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

int translated(const core::Group& from, int rank, const core::Group& to) {
  if (rank == MPI_PROC_NULL) return MPI_PROC_NULL;
  if (rank < 0 || rank >= from.size()) {
    throw MpiError(MPI_ERR_RANK, "rank " + std::to_string(rank) +
                                     " is not in the first group, which has " +
                                     std::to_string(from.size()) + " ranks");
  }
  return to.rank_of(from.node(rank)).value_or(MPI_UNDEFINED);
}

}  // namespace

ISTHMUS_MPI(Group_size)(MPI_Group group, int* size) {
  if (inner_call() || !is_grid_group(group)) return native.Group_size(group, size);
  return shielded(MPI_COMM_NULL, "MPI_Group_size", [&] { *size = group_of(group).size(); });
}

ISTHMUS_MPI(Group_rank)(MPI_Group group, int* rank) {
  if (inner_call() || !is_grid_group(group)) return native.Group_rank(group, rank);
  return shielded(MPI_COMM_NULL, "MPI_Group_rank",
                  [&] { *rank = group_of(group).rank_of(grid()->node).value_or(MPI_UNDEFINED); });
}

ISTHMUS_MPI(Group_translate_ranks)
(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  if (native_pair(group1, group2)) {
    return native.Group_translate_ranks(group1, n, ranks1, group2, ranks2);
  }
  return shielded(MPI_COMM_NULL, "MPI_Group_translate_ranks", [&] {
    if (n < 0) {
      throw MpiError(MPI_ERR_ARG, "the number of ranks, " + std::to_string(n) + ", is negative");
    }
    const core::Group from = group_of(group1);
    const core::Group to = group_of(group2);
    for (int i = 0; i < n; ++i) ranks2[i] = translated(from, ranks1[i], to);
  });
}

ISTHMUS_MPI(Group_compare)(MPI_Group group1, MPI_Group group2, int* result) {
  if (native_pair(group1, group2)) return native.Group_compare(group1, group2, result);
  return shielded(MPI_COMM_NULL, "MPI_Group_compare", [&] {
    switch (group_of(group1).compare(group_of(group2))) {
      case core::Likeness::Identical:
        *result = MPI_IDENT;
        break;
      case core::Likeness::Similar:
        *result = MPI_SIMILAR;
        break;
      case core::Likeness::Unequal:
        *result = MPI_UNEQUAL;
        break;
    }
  });
}

}  // namespace isthmus::face
