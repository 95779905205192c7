// The bytes that a conduit carries at once, and so the number of streams that stand by for it.
// Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/streams/after_pause.hpp"
#include "core/streams/stream_count.hpp"

namespace isthmus::core {

class Bursts {
 public:
  using Time = std::chrono::nanoseconds;

  /// Windows shrink in it.
  static constexpr Time kPause = AfterPause::kPause;
  /// Windows have grown after this many round trips; until then a burst comes in parts.
  static constexpr int kGrowth = AfterPause::kRoundTrips;
  /// After this time a second stream stands by for losses of the first one.
  static constexpr Time kSettled = std::chrono::seconds(1);

  /// The first stream stands; `most` streams are ever to stand by.
  void begin(Time now, Time round_trip, int most) {
    stands_ = now;
    round_trip_ = round_trip;
    most_ = most;
  }
  /// `bytes` were sent or received, in frames that are not small.
  void moved(Time now, std::size_t bytes) {
    if (begun_ && now - last_ > kPause) counts_until_ = now + kGrowth * round_trip_;
    if (!begun_ || now - burst_ > round_trip_) {
      burst_ = now;
      bytes_ = 0;
    }
    begun_ = true;
    last_ = now;
    bytes_ += bytes;
    // More than half of all their windows: a flow this large is worth its streams without any
    // pause.
    const bool flows = 2 * bytes_ >= static_cast<std::size_t>(most_) * kInitialWindow;
    if (flows || now < counts_until_) largest_ = std::max(largest_, bytes_);
  }
  /// Streams, with the first: as many as send the largest burst at once, and one for small frames.
  int streams(Time now) const {
    const auto windows = static_cast<int>(
        std::min<std::size_t>((largest_ + kInitialWindow - 1) / kInitialWindow, kMostStreams));
    const int least = now - stands_ > kSettled ? 2 : 1;
    return std::min(std::max(windows > 0 ? windows + 1 : 1, least), most_);
  }

 private:
  bool begun_ = false;
  int most_ = 1;
  std::size_t bytes_ = 0, largest_ = 0;
  Time stands_{}, round_trip_{}, last_{}, burst_{}, counts_until_{};
};

}  // namespace isthmus::core
