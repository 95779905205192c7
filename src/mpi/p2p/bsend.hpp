// Buffered sends to other clusters. Isthmus makes its own copies, and charges them against the
// size of the buffer that the program attached, as the standard has it.
#pragma once

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Waits until every buffered send charged to the buffer of `comm` (MPI_COMM_NULL: that of the
/// process) has been taken by the engine.
void drain_buffered(MPI_Comm comm);
/// True when none is left.
bool buffered_drained(MPI_Comm comm);
/// The communicator is no more; what its buffer holds will still be sent.
void buffer_of_freed(MPI_Comm comm);

}  // namespace isthmus::face
