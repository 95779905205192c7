// The mutex of the work that needs the program's threads.
#pragma once

#include <mutex>

#include "core/base/mutex.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {

/// Guards the face's tables of operations, held receives and collective queues. Recursive: user
/// callbacks under it may call MPI. Its holder attends to all outstanding operations.
class CAPABILITY("mutex") ProgressMutex {
 public:
  void lock() ACQUIRE() {
    mutex_.lock();
    ++attending;
  }
  bool try_lock() TRY_ACQUIRE(true) {
    const bool locked = mutex_.try_lock();
    if (locked) ++attending;
    return locked;
  }
  void unlock() RELEASE() {
    --attending;
    mutex_.unlock();
  }

 private:
  std::recursive_mutex mutex_;
};
extern ProgressMutex progress_mutex;

}  // namespace isthmus::face
