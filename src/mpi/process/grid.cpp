#include "mpi/process/grid.hpp"

#include <utility>

namespace isthmus::face {
namespace {

// Raw pointers on purpose: a process that exits without MPI_Finalize must not end the grid from a
// static destructor (which would wait for the I/O thread). Its gateway notices its end.
std::atomic<Grid*> current{nullptr}, last{nullptr};

}  // namespace

void Grid::learn_world(std::shared_ptr<const core::World> world) {
  const std::lock_guard lock(learning_);
  if (!worlds_.empty() && world->size() <= worlds_.back()->size()) return;
  worlds_.push_back(std::move(world));
  world_.store(worlds_.back().get(), std::memory_order_release);
}

Grid* grid() { return current.load(std::memory_order_acquire); }
Grid* last_grid() { return last.load(std::memory_order_acquire); }
void set_grid(Grid* grid) {
  if (grid != nullptr) last.store(grid, std::memory_order_release);
  current.store(grid, std::memory_order_release);
}

}  // namespace isthmus::face
