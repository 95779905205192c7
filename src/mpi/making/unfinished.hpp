// Native duplications whose operations have been given up, in a run whose clusters may fail.
// They cannot be ended early, so each is tested until it ends.
#pragma once

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Begins to look after them; once, in MPI_Init.
void tidy_unfinished();
/// `made` is freed when the native MPI_Comm_idup behind `request` has ended. Any thread.
void leave_unfinished(MPI_Request request, MPI_Comm made);

}  // namespace isthmus::face
