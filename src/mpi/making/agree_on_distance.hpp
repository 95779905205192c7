#pragma once

namespace isthmus::face {

/// Called once by MPI_Init, after agree_on_limits: collective over the ranks of MPI_COMM_WORLD.
/// Where nobody has said how far its clusters are from each other, and they are in one room, the
/// choice of algorithms goes by that from here on.
void agree_on_distance();

}  // namespace isthmus::face
