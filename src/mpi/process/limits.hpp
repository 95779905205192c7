// What is the same on the whole grid. Stands from MPI_Init on.
#pragma once

namespace isthmus::face {

struct GridLimits {
  int tag_upper_bound = 32'767;  ///< MPI_TAG_UB of the grid: the least of the clusters'
  int universe_size = 0;         ///< MPI_UNIVERSE_SIZE: the sum of the clusters'
};
const GridLimits& limits();
/// Once, by MPI_Init (making/agree_on_limits.cpp).
void set_limits(const GridLimits& agreed);

}  // namespace isthmus::face
