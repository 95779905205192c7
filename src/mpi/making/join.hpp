// The beginning and the end of this process's part in the grid.
#pragma once

#include "mpi/request/native_progress.hpp"

namespace isthmus::face {

/// Called by MPI_Init after the native library's. Does nothing when the program was not started as
/// part of a grid of at least two clusters.
void join_grid(ProgressBy by);
/// Called from within the native MPI_Finalize, before it ends anything.
void leave_grid();

}  // namespace isthmus::face

/// Whether it has left, so that nothing waits for it, natively either (MPI-4.1 section 11.2.4);
/// src/preload/ucx_finalize.c calls this.
extern "C" int isthmus_has_left();
