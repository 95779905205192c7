#pragma once

namespace isthmus::face {

/// Called once by MPI_Init: collective over the ranks of MPI_COMM_WORLD. Returns, at rank 0, the
/// bandwidth of a stream in bytes a second. It is 0 on other ranks, if the clusters are not all in
/// one room, or if that cannot change the choice of algorithms.
double bandwidth_of_room();

}  // namespace isthmus::face
