#pragma once

namespace isthmus::face {

/// Called once by MPI_Init, when MPI_COMM_WORLD stands: collective over the grid. Sets limits(),
/// and the figures for the choice of algorithms if clusters are in one room. Throws
/// std::runtime_error with a sentence if the clusters cannot form a grid.
void agree_on_limits();

}  // namespace isthmus::face
