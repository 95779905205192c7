#pragma once

namespace isthmus::face {

/// Called once by MPI_Init, when MPI_COMM_WORLD stands: collective over the grid. Sets limits(),
/// and what the choice of algorithms goes by where clusters are in one room. Throws
/// std::runtime_error with a sentence where the grid cannot be one.
void agree_on_limits();

}  // namespace isthmus::face
