// Buffered sends to other clusters. Isthmus makes its own copies, and charges them against the size
// of the buffer that the program attached, as the standard requires.
#pragma once

#include "mpi/comm/session.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// The communicator is gone; its buffer's messages will still be sent.
void buffer_of_freed(MPI_Comm comm);
/// The session ends: waits until what its buffer holds has been sent. May be null.
void buffer_of_ended(const SessionRef& session);

}  // namespace isthmus::face
