// The number of conduits of a process that send bulk over one path at the same time. It limits the
// streams that each of them should use. Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/debug_off.hpp"
#include "core/streams/stream_count.hpp"

namespace isthmus::core {

class Crowd {
 public:
  using Time = std::chrono::nanoseconds;

  /// Each conduit's state for it.
  struct Sender {
    std::int64_t period = -1;  ///< in which it sent the last time
  };

  /// Twice Linux's shortest retransmission timeout: a sender that waits for one still belongs to
  /// the crowd.
  static constexpr Time kPeriod = std::chrono::milliseconds(400);
  /// The number of first windows that should be under way in a stream. If segments are too few,
  /// none follows a lost one to reveal it, and it waits for a timeout. Alltoall of 1 MiB, 8 + 8
  /// processes over 1 Gbit/s at 20 ms, 100 Mbit/s each (2026-11): 3.7 to 4.0 s with 3 to 6 streams
  /// for each pair, 1.5 to 1.8 with 2, 1.4 to 1.6 with 1; natively 1.35.
  static constexpr double kWindows = 2;

  /// For a path of `rate` bytes a second and that round trip. `sharing`: the number of processes
  /// that may use it like this one.
  Crowd(double rate, Time round_trip, int sharing, Time now)
      : windows_(rate * std::chrono::duration<double>(round_trip).count() / kInitialWindow),
        sharing_(std::max(sharing, 1)),
        began_(now) {}

  /// Enough time has passed to see all that send together.
  bool known(Time now) const { return now - began_ > kPeriod; }

  /// The conduit sends bulk now. Returns the most streams for it.
  int streams(Sender& sender, Time now) {
    begin(now);
    if (std::exchange(sender.period, period_) != period_) ++count_;
    return streams(now);
  }
  /// The same, of any that sends in this period.
  int streams(Time now) {
    begin(now);
    const std::size_t senders = std::max(count_, before_);
    if (senders <= 1 || off(Mechanism::Crowd)) return kMostStreams;
    const double each = windows_ / kWindows / (sharing_ * static_cast<double>(senders));
    return static_cast<int>(std::clamp(each, 1.0, double{kMostStreams}));
  }

 private:
  void begin(Time now) {
    const std::int64_t period = now / kPeriod;
    if (period == period_) return;
    before_ = period == period_ + 1 ? count_ : 0;
    count_ = 0;
    period_ = period;
  }

  double windows_;  // first ones, which fill the path
  int sharing_;
  Time began_;
  std::int64_t period_ = -1;
  std::size_t count_ = 0, before_ = 0;  // senders of this period, and of the last
};

}  // namespace isthmus::core
