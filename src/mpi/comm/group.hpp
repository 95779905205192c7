// Groups that name ranks of other clusters. The handle is a genuine native group, a new one each
// time so that handles are unique; its members are never used. A group whose members all lie in
// this cluster is the native group of them and is not in the table. The empty one is
// MPI_GROUP_EMPTY.
#pragma once

#include "core/world/group.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// World ranks of any group, native or registered.
core::Group group_of(MPI_Group handle);
/// True when the handle is a registered (grid) group.
bool is_grid_group(MPI_Group handle);
/// Both groups are for the native library alone: neither is of the grid, or the call is the native
/// library's own. Null groups are for the native library to check.
bool native_pair(MPI_Group first, MPI_Group second);
/// A handle for a group of that session, or of none: native if possible, else registered.
/// MPI_SUCCESS or an error code.
int make_group(const core::Group& group, const SessionRef& session, MPI_Group* handle);
void unregister_group(MPI_Group handle);

}  // namespace isthmus::face
