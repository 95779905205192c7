// When small messages that have been gathered into batches leave. The first goes at once; those
// that follow it closely share frames. Nobody relies on further calls of the program: whoever has
// been woken flushes.
#pragma once

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

  enum class Then {
    Flush,  ///< now, on this thread
    Wake,   ///< another thread, which flushes
    Wait,   ///< nothing: that has been done
  };
  /// A message has been gathered, the last of so many bytes. `waited`: since the last flush the
  /// program has waited for messages, or looked for some.
  Then added(Time now, std::size_t bytes, bool waited) {
    if (waited || bytes >= kMost || now - flushed_ >= kApart) return Then::Flush;
    if (woken_) return Then::Wait;
    woken_ = true;
    return Then::Wake;
  }
  /// What had been gathered is in frames.
  void taken() { woken_ = false; }
  /// These have been written.
  void flushed(Time now) { flushed_ = now; }

 private:
  Time flushed_ = -std::chrono::hours(1);
  bool woken_ = false;
};

}  // namespace isthmus::core
