// Native duplications whose operations have been given up, in a run whose clusters may fail.
// Nothing ends them early, so they are looked after until they end.
#pragma once

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Begins to look after them; once, in MPI_Init.
void tidy_unfinished();
/// `made` is freed when the native MPI_Comm_idup behind `request` has ended. Any thread.
void leave_unfinished(MPI_Request request, MPI_Comm made);

}  // namespace isthmus::face
