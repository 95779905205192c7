// Whether a thread that moves bytes of others, a gateway's, looks at its rings for a moment before
// it sleeps. Looking saves the wake-up of what comes next. Where nothing comes, or where others
// compute on the core, it is given up, and tried again ever more seldom. Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>

namespace isthmus::net {

class Looking {
 public:
  using Time = std::chrono::nanoseconds;

  /// So long it looks for the next arrival: some times what a wake-up costs (5 to 30 us).
  static constexpr Time kPatience = std::chrono::microseconds(50);
  /// Giving way that takes so long has met somebody who does not give way in turn: whoever looks
  /// there is late for what comes, where a sleeper would have been woken in front of the other.
  static constexpr Time kOthersTurn = std::chrono::microseconds(50);
  /// Arrivals without looking, after vain looks and after others' turns. They double.
  static constexpr unsigned kMostSkipped = 256;
  static constexpr unsigned kSkippedForOthers = 16, kMostSkippedForOthers = 1024;
  /// So many looks that have found something in one go show that nobody else wants the core.
  static constexpr unsigned kProof = 64;

  /// Something has come in a ring while the thread slept. True: it looks from now on.
  bool woken(Time now) {
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    last_ = now;
    finds_ = 0;
    return true;
  }

  /// A look has found something.
  void found(Time now) {
    last_ = now;
    vain_ = 0;
    if (++finds_ >= kProof) others_ = 0;
  }

  /// A look has found nothing; giving way then lasted from `before` until `now`. False: sleep.
  bool goes_on(Time before, Time now) {
    if (now - before >= kOthersTurn) {
      skip_ = others_ = std::clamp(2 * others_, kSkippedForOthers, kMostSkippedForOthers);
      return false;
    }
    if (now - last_ < kPatience) return true;
    skip_ = vain_ = std::clamp(2 * vain_, 1U, kMostSkipped);
    return false;
  }

 private:
  Time last_{};                     // when something came
  unsigned skip_ = 0;               // arrivals without looking that are still to come
  unsigned vain_ = 0, others_ = 0;  // how many they were last, for either reason
  unsigned finds_ = 0;              // since it was woken
};

}  // namespace isthmus::net
