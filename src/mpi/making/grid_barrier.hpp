// The barrier of MPI_Finalize.
#pragma once

#include "mpi/process/grid.hpp"

namespace isthmus::face {

/// Returns when every rank of the grid has called it. Native barriers inside clusters, empty
/// messages between the clusters' first ranks. Clusters that have failed are not waited for.
void grid_barrier(Grid& grid);

}  // namespace isthmus::face
