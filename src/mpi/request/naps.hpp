// The length of naps between two looks at the native library, for a thread that waits for the grid.
// Events of the grid end a nap at once, but those of the native library wait for its end. So a nap
// is at most a tenth of the time waited. Sixteen ranks on two cores wait 10 ms for an allreduce of
// 8 B: they take 17 ms of processor time for it, and 21 if naps double every 16 (November 2026).
#pragma once

#include <algorithm>
#include <chrono>

namespace isthmus::face {

class Naps {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Length = std::chrono::microseconds;

  static constexpr Length kShortest{50};
  static constexpr Length kLongest{3200};
  // A process alone in its cluster holds no other up. Over two gateways, the round trip of 64 KiB
  // took 0.82 of the time with a shortest nap of 50 us (November 2026).
  static constexpr Length kShortestAlone{1000};
  static constexpr Length kLongestAlone{51200};

  /// The next one, at `now`.
  Length next(Time now, bool alone) {
    const Length shortest = alone ? kShortestAlone : kShortest;
    const Length longest = alone ? kLongestAlone : kLongest;
    if (!begun_) since_ = now;
    begun_ = true;
    const auto waited = std::chrono::duration_cast<Length>(now - since_);
    return std::clamp(waited / kPart, shortest, longest);
  }
  bool begun() const { return begun_; }
  /// Something has come: the next nap is the first again.
  void end() { begun_ = false; }

 private:
  static constexpr int kPart = 10;

  Time since_{};
  bool begun_ = false;
};

}  // namespace isthmus::face
