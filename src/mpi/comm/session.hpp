// Which session (MPI-4.1 section 11.3) groups and communicators come from: it decides whose buffer
// MPI_Bsend takes (section 3.6).
#pragma once

#include <memory>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// A session that the program has used for a group or has given a buffer.
struct GridSession {
  /// The native group of mpi://WORLD. Native objects that are made from it belong to the native
  /// session, too. MPI_GROUP_NULL if sessions have no buffers, and once the session has ended.
  MPI_Group native_world = MPI_GROUP_NULL;
};
using SessionRef = std::shared_ptr<GridSession>;

/// Whether the native library gives sessions buffers.
inline bool sessions_have_buffers() {
#ifdef ISTHMUS_HAS_Session_attach_buffer
  return native.Session_attach_buffer != nullptr;
#else
  return false;
#endif
}

#ifdef ISTHMUS_HAS_Session_init
/// Null if the native library does not take the handle.
SessionRef grid_session(MPI_Session session);
/// Before MPI_Session_finalize. Null without kept state.
SessionRef forget_session(MPI_Session session);
#endif

/// The group from which Isthmus makes native groups: processes here, in the order of the native
/// MPI_COMM_WORLD. It belongs to the session, if the session has that group.
MPI_Group native_world_of(const SessionRef& session);

/// The session of a group that comes from one; else null. Groups of the grid and native ones.
SessionRef session_of_group(MPI_Group group);
/// Records that `made`, a new group of the program, comes from that session. Does nothing for null.
void set_session_of_group(MPI_Group made, const SessionRef& session);
/// Before MPI_Group_free.
void forget_group(MPI_Group group);

}  // namespace isthmus::face
