// Making a communicator that only the members of a group call for.
#pragma once

#include "core/group.hpp"
#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// The communicator of `group`, of members of `parent`, native where it lies in one cluster;
/// MPI_COMM_NULL for a process that is not in it. `tag`: 0 to MPI_TAG_UB, another for each call
/// under way. Returns an MPI error code (raised) or throws coll::Failure.
int create_group(const GridComm& parent, const core::Group& group, int tag, MPI_Comm* newcomm);

}  // namespace isthmus::face
