// Decides whether a gateway's thread polls its rings for a moment before it sleeps. Polling saves
// the wake-up for the next arrival. If nothing comes, or others compute on the core, the thread
// stops polling, and tries again more and more seldom. Pure: the caller gives the time.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/base/core_sharing.hpp"

namespace isthmus::net {

class Looking {
 public:
  using Time = std::chrono::nanoseconds;

  /// The time of polling for the next arrival: a few times the cost of a wake-up (5 to 30 us).
  static constexpr Time kPatience = std::chrono::microseconds(50);
  /// If a yield takes this long, another process kept the core. A polling thread is then late for
  /// arrivals, while a sleeping one would be woken before the other process. So it does not poll
  /// for kApart times as long.
  static constexpr Time kOthersTurn = std::chrono::microseconds(50);
  static constexpr int kApart = core::CoreSharing::kApart;
  /// Arrivals without looking after vain looks. They double.
  static constexpr unsigned kMostSkipped = 256;

  /// Something has come in a ring while the thread slept. True: it looks from now on.
  bool woken(Time now) {
    if (now < again_) return false;
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    last_ = now;
    return true;
  }

  /// A look has found something.
  void found(Time now) {
    last_ = now;
    vain_ = 0;
  }

  /// A look has found nothing; giving way then lasted from `before` until `now`. False: sleep.
  bool goes_on(Time before, Time now) {
    if (now - before >= kOthersTurn) {
      again_ = now + kApart * (now - before);
      return false;
    }
    if (now - last_ < kPatience) return true;
    skip_ = vain_ = std::clamp(2 * vain_, 1U, kMostSkipped);
    return false;
  }

 private:
  Time last_{};        // when something came
  Time again_{};       // it may look again
  unsigned skip_ = 0;  // arrivals without looking that are still to come
  unsigned vain_ = 0;  // how many they were last
};

}  // namespace isthmus::net
