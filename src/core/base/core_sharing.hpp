// Whether others compute on this process's core, by how long they keep it after a yield. Pure; time
// is given; on any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace isthmus::core {

class CoreSharing {
 public:
  using Time = std::chrono::nanoseconds;

  /// A yield without a taker takes up to 1 us. A rank's one look with two switches takes 3 and more
  /// (November 2026).
  static constexpr Time kOthersTurn{2500};
  /// It counts as alone after this many yields without a taker in a row: others sleep now and then.
  static constexpr int kRemembered = 64;
  /// A process that waits as this one does gives the core back sooner. One that computes keeps it
  /// for its whole turn, 3 ms and more. A process that sleeps is woken before such a turn ends.
  static constexpr Time kComputes = std::chrono::milliseconds(1);
  /// A yield that took this long is tried again after this many times as long.
  static constexpr int kApart = 50;

  /// The process yielded at `before`, and got the core back at `after`.
  void yielded(Time before, Time after) {
    const Time took = after - before;
    const int left = left_.load(std::memory_order_relaxed);
    left_.store(took >= kOthersTurn ? kRemembered : std::max(left - 1, 0),
                std::memory_order_relaxed);
    if (took >= kComputes) again_.store(after + kApart * took, std::memory_order_relaxed);
  }
  /// Others want the core.
  bool shared() const { return left_.load(std::memory_order_relaxed) > 0; }
  /// Others compute on it: sleep, do not yield.
  bool computing(Time now) const { return now < again_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> left_{0};
  std::atomic<Time> again_{Time{}};
};

}  // namespace isthmus::core
