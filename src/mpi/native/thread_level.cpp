#include "mpi/native/thread_level.hpp"

#include <atomic>

#include "mpi/native/entry.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {
namespace {

constexpr int kUnset = -1;  // MPI's levels are not negative
std::atomic<int> level_set{kUnset};

int query(int* provided) {
  const int level = level_set.load(std::memory_order_relaxed);
  if (level == kUnset || provided == nullptr) return native.Query_thread(provided);
  *provided = level;
  return MPI_SUCCESS;
}

}  // namespace

void set_thread_level(int level) { level_set.store(level); }

bool threads_multiple() {
  static const bool multiple = [] {
    int provided = MPI_THREAD_SINGLE;
    query(&provided);
    return provided == MPI_THREAD_MULTIPLE;
  }();
  return multiple;
}

// coverage: the program's level, also where Isthmus runs the native library at a higher one
ISTHMUS_MPI(Query_thread)(int* provided) { return query(provided); }

}  // namespace isthmus::face
