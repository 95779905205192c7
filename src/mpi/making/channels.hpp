// The communicators of the grid file's channels, which live from MPI_Init to MPI_Finalize.
#pragma once

#include "mpi/process/grid.hpp"

namespace isthmus::face {

/// Collective over the grid. Throws std::exception with a sentence.
void make_channels(Grid& grid);
void free_channels(Grid& grid);

}  // namespace isthmus::face
