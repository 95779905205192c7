// Whose turn it is to change memory that several processes of a host combine in: the target's I/O
// thread, for origins elsewhere, and the programs of origins that have the memory mapped. Lies in
// memory that they share.
#pragma once

#include <pthread.h>

#include <type_traits>

namespace isthmus::rma {

/// A mutex, for std::lock_guard. Whoever has it holds it for a piece of data, and never waits
/// meanwhile; one that dies with it leaves it to the next.
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
