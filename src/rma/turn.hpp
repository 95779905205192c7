// The turn to change memory that several processes of a host combine in. The target's I/O thread
// takes it for origins elsewhere, and so do the programs of origins that have the memory mapped.
// Lies in memory that they share.
#pragma once

#include <pthread.h>

#include <type_traits>

namespace isthmus::rma {

/// A mutex, for std::lock_guard. Its holder keeps it for a piece of data, and never waits
/// meanwhile. If the holder dies, the next one gets it.
class Turn {
 public:
  /// Throws std::system_error.
  Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void lock() noexcept;
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};
// It goes with its memory.
static_assert(std::is_trivially_destructible_v<Turn>);

}  // namespace isthmus::rma
