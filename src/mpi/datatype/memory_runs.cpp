#include "mpi/datatype/memory_runs.hpp"

#include "mpi/datatype/datatype.hpp"

namespace isthmus::face {

MemoryRuns::MemoryRuns(const void* buffer, MPI_Count count, MPI_Datatype type) : buffer_(buffer) {
  MPI_Aint lower = 0;
  if (is_contiguous(count, type, &lower)) {
    first_ = address(buffer, lower);
    return;
  }
  map_ = map_of(type);
  cursor_.emplace(*map_, count);
  first_ = address(buffer, map_->true_lower());
}

}  // namespace isthmus::face
