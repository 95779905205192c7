#pragma once

namespace isthmus::face {

/// Called once by MPI_Init: collective over the ranks of MPI_COMM_WORLD. At rank 0, what a stream
/// carries, in bytes a second, where all clusters turn out to be in one room and that may make a
/// difference to the choice of algorithms; otherwise, and elsewhere, 0.
double bandwidth_of_room();

}  // namespace isthmus::face
