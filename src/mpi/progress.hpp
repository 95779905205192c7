// What needs the program's threads: finishing operations, held wildcards, collectives. The I/O
// thread moves bytes by itself; this is only for what must call MPI.
#pragma once

#include <atomic>
#include <mutex>

#include "mpi/request.hpp"

namespace isthmus::face {

/// Operations that need advance(); when zero, wait, test and blocking native calls go straight to
/// the native library.
extern std::atomic<int> active_operations;
inline bool idle() { return active_operations.load(std::memory_order_relaxed) == 0; }

/// Collectives under way that move much data in many messages. Whoever waits then naps after each
/// look: data keeps coming meanwhile, and ranks may share cores with each other and with the
/// kernel's work on all these messages.
extern std::atomic<int> streaming_collectives;

/// Guards the face's tables of operations, held receives and collective queues. Recursive: user
/// callbacks under it may call MPI.
extern std::recursive_mutex progress_mutex;

/// True when the program runs at MPI_THREAD_MULTIPLE. After MPI_Init only.
bool threads_multiple();

/// Advances every operation once. Returns at once when another thread is at it.
void pump();

/// Threads that wait, and so pump all the time.
extern std::atomic<int> waiting_threads;

/// One step of the waiting above: pumps, and naps if nothing has happened for a while. While it
/// lives its thread is one that waits.
class Backoff {
 public:
  Backoff() { waiting_threads.fetch_add(1, std::memory_order_relaxed); }
  ~Backoff() { waiting_threads.fetch_sub(1, std::memory_order_relaxed); }
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;
  void pause();
  /// Nothing has happened for so long that pauses are naps.
  bool long_since() const;

 private:
  unsigned idle_rounds_ = 0;
  std::uint32_t seen_ = 0;
};

/// Waits for `done()` (called repeatedly), pumping meanwhile: spins briefly, then sleeps on the
/// endpoint's events in short naps, so that processes can share cores.
template <class Done>
void wait_until(Done&& done) {
  Backoff backoff;
  while (!done()) backoff.pause();
}

}  // namespace isthmus::face
