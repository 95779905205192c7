#include "mpi/process/grid.hpp"

#include <atomic>

namespace isthmus::face {
namespace {

// A raw pointer on purpose: a process that exits without MPI_Finalize must not end the grid from
// a static destructor (which would wait for the I/O thread). Its gateway notices that it is gone.
std::atomic<Grid*> current{nullptr};

}  // namespace

Grid* grid() { return current.load(std::memory_order_acquire); }
void set_grid(Grid* grid) { current.store(grid, std::memory_order_release); }

}  // namespace isthmus::face
