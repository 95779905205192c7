// The values that are the same on the whole grid. Valid from MPI_Init on.
#pragma once

namespace isthmus::face {

struct GridLimits {
  int tag_upper_bound = 32'767;  ///< MPI_TAG_UB of the grid: the least of the clusters'
  /// MPI_UNIVERSE_SIZE: the sum of the clusters', or that of the parents; 0: not set
  int universe_size = 0;
};
const GridLimits& limits();
/// Called once, by MPI_Init (making/agree_on_limits.cpp).
void set_limits(const GridLimits& agreed);

}  // namespace isthmus::face
