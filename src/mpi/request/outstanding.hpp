// The number of operations that need threads that call MPI: held receives, collectives,
// duplications under way. At 0, wait, test and blocking native calls go straight to the native
// library.
#pragma once

#include <atomic>

namespace isthmus::face {

class Outstanding {
 public:
  void add() {
    if (count_.fetch_add(1) == 0) first();
  }
  void remove(int number = 1) { count_.fetch_sub(number, std::memory_order_relaxed); }
  /// One load: every call of the program begins with it.
  bool none() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  /// Has the native library's progress, or a thread of ours, take care of them from now on.
  static void first();

  std::atomic<int> count_{0};
};

extern constinit Outstanding outstanding;
inline bool idle() { return outstanding.none(); }

}  // namespace isthmus::face
