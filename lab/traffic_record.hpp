// Sent and dropped bytes of a channel in each of the latest milliseconds, as GtrcNET's boxes show
// traffic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "lab/time.hpp"

namespace isthmus::lab {

/// `at` counts milliseconds of the box's clock.
struct Millisecond {
  std::int64_t at = 0;
  std::uint64_t bytes = 0;    ///< on the wire, with framing
  std::uint64_t dropped = 0;  ///< segments, by a full queue or by chance
};

/// Keeps the last `kMost` milliseconds in which there was anything.
class TrafficRecord {
 public:
  static constexpr std::size_t kMost = 65536;

  /// A time before the last one counts as the last one.
  void sent(Nanos when, std::uint64_t bytes) { of(when).bytes += bytes; }
  void dropped(Nanos when, std::uint64_t segments) {
    if (segments > 0) of(when).dropped += segments;
  }

  /// The milliseconds from `first` on, at most `most` of them.
  std::vector<Millisecond> since(std::int64_t first, std::size_t most) const {
    const auto begin =
        std::lower_bound(kept_.begin(), kept_.end(), first,
                         [](const Millisecond& one, std::int64_t at) { return one.at < at; });
    const auto left = static_cast<std::size_t>(kept_.end() - begin);
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min(left, most))};
  }

 private:
  Millisecond& of(Nanos when) {
    const std::int64_t at = when / kMillisecond;
    if (kept_.empty() || kept_.back().at < at) {
      if (kept_.size() == kMost) kept_.pop_front();
      kept_.push_back({.at = at});
    }
    return kept_.back();
  }

  std::deque<Millisecond> kept_;
};

}  // namespace isthmus::lab
