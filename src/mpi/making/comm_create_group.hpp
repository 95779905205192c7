// Making a communicator that only the members of a group call for.
#pragma once

#include <string>

#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Makes the native parts of a communicator by MPI_Comm_create_from_group, with the session that
/// this process has the group from.
struct FromGroup {
  SessionRef session;  ///< may be null
  std::string tag;     ///< the same on all members
};

/// A revocation of the parent ends the call, or does not matter.
enum class IfRevoked { GoesOn, Ends };

/// The communicator of `group`, of members of `parent`, native if it lies in one cluster;
/// MPI_COMM_NULL for a process that is not in it. `tag`: 0 to MPI_TAG_UB, another for each call
/// under way. `from`: null on all members, or on none. Returns an MPI error code (raised) or throws
/// MpiError.
int create_group(const GridComm& parent, const core::Group& group, int tag, const FromGroup* from,
                 MPI_Comm* newcomm, IfRevoked if_revoked = IfRevoked::GoesOn);

}  // namespace isthmus::face
