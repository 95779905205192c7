// The messages inside this cluster of communicators that are revoked. A native send there cannot be
// taken back, so its receiver takes the message, and throws it away.
#pragma once

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Begins that, in a run whose clusters may fail; until the grid is left. One operation of Isthmus
/// is always under way from then on. So no thread sleeps in the native library on a grid
/// communicator, where nothing could wake it.
void drain_revoked();
/// The native library is about to free the handle. Takes what has come there, since a later
/// communicator may get the same native context; no thread looks there from now on.
void end_drain(const GridCommRef& comm);
/// The native library has not freed the handle.
void resume_drain(const GridComm& comm);
/// In MPI_Finalize, before its barrier and after it: sends last messages, and takes those that have
/// come. Native libraries warn of messages that nobody has received.
void drain_at_the_end();

}  // namespace isthmus::face
