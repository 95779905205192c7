#include "mpi/making/creation.hpp"

#include <atomic>

#include "mpi/native/entry.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

std::atomic<int> idups_under_way{0};
std::atomic<int> creations{0};

#ifdef OPEN_MPI
/// In Open MPI, creations choose a context id one after the other, by the ids of their parents. The
/// end of any of them resets the turn. A communicator of this process alone, made from
/// MPI_COMM_WORLD, never waits and sends nothing.
void end_turn() {
  const Inside inside;
  MPI_Group alone = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  native.Comm_group(MPI_COMM_SELF, &alone);
  if (native.Comm_create_group(MPI_COMM_WORLD, alone, 0, &made) == MPI_SUCCESS) {
    native.Comm_free(&made);
  }
  native.Group_free(&alone);
}
#endif

}  // namespace

NativeIdup::NativeIdup() { idups_under_way.fetch_add(1, std::memory_order_relaxed); }
NativeIdup::~NativeIdup() { idups_under_way.fetch_sub(1, std::memory_order_relaxed); }

NativeCreation::NativeCreation() {
  creations.fetch_add(1, std::memory_order_relaxed);
#ifdef OPEN_MPI
  const int waiting = idups_under_way.load(std::memory_order_relaxed);
  if (waiting == 0) return;
  // Each end of a turn lets one duplication take its own; the last is for the caller.
  for (int i = 0; i < waiting; ++i) {
    end_turn();
    move_native_on();
  }
  end_turn();
#endif
}

NativeCreation::~NativeCreation() { creations.fetch_sub(1, std::memory_order_relaxed); }

bool creating_natively() { return creations.load(std::memory_order_relaxed) > 0; }

}  // namespace isthmus::face
