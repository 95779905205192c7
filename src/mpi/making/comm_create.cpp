// MPI_Comm_create: a split in which all members of a group choose alike.
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/subset.hpp"
#include "mpi/making/comm_split.hpp"
#include "mpi/making/intercomm_split.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {

namespace {

/// Both sides choose members of their own.
int create_intercomm(const GridCommRef& parent, const core::Group& chosen, MPI_Comm* newcomm) {
  ranks_in(*parent, chosen);
  const auto place = chosen.rank_of(parent->inter->local.node(parent->rank));
  return split_intercomm(parent, place ? 0 : MPI_UNDEFINED, place.value_or(0), newcomm);
}

}  // namespace

ISTHMUS_MPI(Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent || group == MPI_GROUP_NULL) {
    if (!inner_call() && is_grid_group(group)) return refuse_group(comm, "MPI_Comm_create");
    return settled(parked(native.Comm_create, comm, group, newcomm));
  }
  return shielded(comm, "MPI_Comm_create", [&] {
    const core::Group chosen = group_of(group);
    if (parent->inter) return create_intercomm(parent, chosen, newcomm);
    const std::vector<int> ranks = ranks_in(*parent, chosen);
    for (std::size_t place = 0; place < ranks.size(); ++place) {
      if (ranks[place] != parent->rank) continue;
      return split(parent, ranks.front(), static_cast<int>(place), nullptr, newcomm);
    }
    return split(parent, MPI_UNDEFINED, 0, nullptr, newcomm);
  });
}

}  // namespace isthmus::face
