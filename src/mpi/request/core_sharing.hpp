// Whether others compute on this process's core, by how long they keep it after a yield. Between
// hosts a process cannot know how many ranks share a core. A thread that waits there looks several
// times between two yields while it is alone, and once if others want the core. Pure; on any
// thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace isthmus::face {

class CoreSharing {
 public:
  using Length = std::chrono::nanoseconds;

  /// A yield without a taker takes up to 1 us. A rank's one look with two switches takes 3 and more
  /// (November 2026).
  static constexpr Length kOthersTurn{2500};
  /// It counts as alone after this many yields without a taker in a row: others sleep now and then.
  static constexpr int kRemembered = 64;

  /// It has yielded, and got the core back after `took`.
  void gave_way(Length took) {
    const int left = left_.load(std::memory_order_relaxed);
    left_.store(took >= kOthersTurn ? kRemembered : std::max(left - 1, 0),
                std::memory_order_relaxed);
  }
  bool shared() const { return left_.load(std::memory_order_relaxed) > 0; }

 private:
  std::atomic<int> left_{0};
};

}  // namespace isthmus::face
