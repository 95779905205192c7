// When small messages that have been gathered into batches leave. The first goes at once (to a peer
// beside this process, the first few); those that follow it closely share frames. Nobody relies on
// further calls of the program: whoever has been woken flushes.
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
  /// So many bytes leave at once.
  static constexpr std::size_t kMost = std::size_t{16} * 1024;

  /// So many in a row, to a peer whose memory is shared with this process, leave at once: to write
  /// into it costs less than to wake a thread. Of two ranks on each of two cores an exchange of 8 B
  /// took 7.6 us instead of 11, an alltoall 14 instead of 24 to 40 (November 2026). A longer row is
  /// a stream, and frames that are shared carry twice as many messages a second.
  static constexpr unsigned kBeside = 4;

  enum class Then {
    Flush,  ///< now, on this thread
    Wake,   ///< another thread, which flushes
    Wait,   ///< nothing: that has been done
  };
  /// A message has been gathered, the last of so many bytes, for a peer that is `beside` this
  /// process or not. `waited`: since the last flush the program has waited for messages, or looked
  /// for some; then `now` does not matter.
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
  /// What had been gathered is in frames.
  void taken() { woken_ = false; }
  /// These have been written. On any thread, as long as others do not say so.
  void flushed(Time now) { flushed_.store(now, std::memory_order_relaxed); }

 private:
  std::atomic<Time> flushed_{-std::chrono::hours(1)};
  unsigned row_ = 0;  // messages that have followed each other closely
  bool woken_ = false;
};

}  // namespace isthmus::core
