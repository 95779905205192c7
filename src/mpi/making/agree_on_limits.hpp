#pragma once

namespace isthmus::face {

/// Called once by MPI_Init, when MPI_COMM_WORLD stands: collective over the grid. Sets limits().
/// Throws std::runtime_error with a sentence where the grid cannot be one.
void agree_on_limits();

}  // namespace isthmus::face
