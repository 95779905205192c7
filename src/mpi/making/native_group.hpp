// Native communicators of a group of processes of this cluster.
#pragma once

#include <cstdint>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Gives `to` the error handler that the program has set on `from`, as MPI_Comm_split does.
void inherit_handler(MPI_Comm from, MPI_Comm to);

/// The native MPI_Comm_create_group of `members` of `parent`, who all call. Calls that are under
/// way at the same time differ in `context` or `tag`. The result has the error handler of `parent`.
/// Returns a native code.
///
/// In a run whose clusters may fail, the native parent is the shadow. Open MPI 4.1 sends the
/// function's own messages with `tag` on the parent (2026-11). Drain would take them there if the
/// program has revoked it, and the function would never return.
int create_native_group(MPI_Comm parent, const SessionRef& session, MPI_Group members,
                        std::uint64_t context, int tag, MPI_Comm* made);

}  // namespace isthmus::face
