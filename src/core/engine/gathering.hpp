// When gathered small messages leave in batches. The first goes at once (to a peer beside this
// process, the first few); those that follow it closely share frames. No further call of the
// program is needed: the woken thread flushes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace isthmus::core {

class Gathering {
 public:
  using Time = std::chrono::nanoseconds;

  /// Messages further apart than this are alone: a flush takes as long (2 to 10 us; November 2026).
  static constexpr Time kApart = std::chrono::microseconds(10);
  /// This many bytes leave at once.
  static constexpr std::size_t kMost = std::size_t{16} * 1024;

  /// The first kBeside messages in a row to a peer that shares memory with this process leave at
  /// once: writing into it costs less than waking a thread. Two ranks on each of two cores
  /// exchanged 8 B in 7.6 us instead of 11; an alltoall took 14 instead of 24 to 40 (November
  /// 2026). A longer row is a stream, and shared frames carry twice as many messages a second.
  static constexpr unsigned kBeside = 4;

  enum class Then {
    Flush,  ///< now, on this thread
    Wake,   ///< another thread, which flushes
    Wait,   ///< no action is needed: another thread has been woken
  };
  /// A message has been gathered; `bytes` are gathered in all. `beside`: the peer is beside this
  /// process. `waited`: since the last flush the program has waited for messages, or looked for
  /// some; then `now` does not matter.
  Then added(Time now, std::size_t bytes, bool waited, bool beside) {
    if (waited || now - flushed_.load(std::memory_order_relaxed) >= kApart) {
      row_ = 1;
      return Then::Flush;
    }
    ++row_;
    if (bytes >= kMost || (beside && row_ <= kBeside)) return Then::Flush;
    if (woken_) return Then::Wait;
    woken_ = true;
    return Then::Wake;
  }
  /// A message has gone past those gathered.
  void passed() { row_ = 1; }
  /// All gathered messages are in frames.
  void taken() { woken_ = false; }
  /// These have been written. On any thread, but one at a time.
  void flushed(Time now) { flushed_.store(now, std::memory_order_relaxed); }

 private:
  std::atomic<Time> flushed_{-std::chrono::hours(1)};
  unsigned row_ = 0;  // messages that have followed each other closely
  bool woken_ = false;
};

}  // namespace isthmus::core
