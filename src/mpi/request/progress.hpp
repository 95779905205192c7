// Advances the work that needs the program's threads: finishing operations, held wildcards,
// collectives. The I/O thread moves bytes by itself; this is only for work that must call MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "mpi/process/uncancelled.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/request/outstanding.hpp"
#include "mpi/request/progress_mutex.hpp"
#include "mpi/request/request.hpp"
#include "mpi/request/waiting.hpp"
#include "mpi/request/waits.hpp"

namespace isthmus::face {

/// Collectives under way that move much data in many messages. Waiting threads then nap after each
/// look: data keeps coming meanwhile, and ranks may share cores with each other and with the
/// kernel's work on all these messages.
extern std::atomic<int> streaming_collectives;

/// Advances every operation once, and serves what is held. Returns at once when another thread is
/// at it.
void pump();

/// An object that pump() serves until it is empty. Called under the progress lock.
class Served {
 public:
  virtual void serve() = 0;
  virtual bool empty() const = 0;

 protected:
  ~Served() = default;
};
/// Has pump() serve it until it is empty.
void serve_from_now_on(Served& held) REQUIRES(progress_mutex);
void stop_serving(Served& held) REQUIRES(progress_mutex);

/// Threads that wait, and so pump all the time.
extern std::atomic<int> waiting_threads;

/// One step of the waiting above: pumps, and naps after a while without events. Its thread counts
/// as waiting while it lives. After some rounds the reason of the wait is known to others.
class Backoff {
 public:
  explicit Backoff(Describe describe = {});
  ~Backoff();
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;
  /// `near`: the awaited operation if no other needs this thread (Operation::near).
  void pause(Operation* near = nullptr);
  /// Whether this thread has one: then its batches leave when it pauses or its wait is over, and no
  /// other thread need be woken for that.
  static bool here();
  /// That leaves now. Before another way of waiting.
  static void send_gathered();
  /// The last event is so long ago that pauses are naps.
  bool long_since() const;

 private:
  static std::uint32_t events();
  void tell();
  void rest(const Waiting::Rest& rest, Operation* near) const;

  const Uncancelled uncancelled_;
  const Attending attending_;
  const Describe describe_;
  std::optional<KnownWait> known_;
  Waiting waiting_;
  std::uint32_t seen_;
};

/// Waits for `done()` (called repeatedly), pumping meanwhile: spins briefly, then sleeps on the
/// endpoint's events in short naps, so that processes can share cores.
template <class Done>
void wait_until(Done&& done, Describe describe = {}) {
  Backoff backoff(describe);
  while (!done()) backoff.pause();
}

}  // namespace isthmus::face
