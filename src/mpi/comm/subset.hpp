// Groups that must be part of a communicator.
#pragma once

#include <vector>

#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Ranks in `comm` (its local side) of a group's members, in the group's order. Throws
/// MpiError (MPI_ERR_GROUP) if one is not a member.
std::vector<int> ranks_in(const GridComm& comm, const core::Group& group);

/// The error of giving a group that spans clusters to a communicator within one.
int refuse_group(MPI_Comm comm, const char* function);

}  // namespace isthmus::face
