// How many conduits of a process send bulk over one path at the same time, and so by how many of
// its streams each of them should. Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/stream_count.hpp"

namespace isthmus::core {

class Crowd {
 public:
  using Time = std::chrono::nanoseconds;

  /// What each conduit keeps for it.
  struct Sender {
    std::int64_t period = -1;  ///< in which it sent the last time
  };

  /// Twice Linux's shortest retransmission timeout: who waits for one still belongs to the crowd.
  static constexpr Time kPeriod = std::chrono::milliseconds(400);
  /// So many first windows should be under way in a stream. With few segments none follows a lost
  /// one to tell of it, and it waits for a timeout (2026-11: alltoall of 1 MiB, 8 + 8 processes
  /// over 1 Gbit/s at 20 ms, 100 Mbit/s each: 3.7 to 4.0 s with 3 to 6 streams for each pair, 1.5
  /// to 1.8 with 2, 1.4 to 1.6 with 1; natively 1.35).
  static constexpr double kWindows = 2;

  /// Of a path of so many bytes a second and that round trip. As many processes as `sharing` may do
  /// as this one does.
  Crowd(double rate, Time round_trip, int sharing, Time now)
      : windows_(rate * std::chrono::duration<double>(round_trip).count() / kInitialWindow),
        sharing_(std::max(sharing, 1)),
        began_(now) {}

  /// It has lasted for so long that those who send together have been seen.
  bool known(Time now) const { return now - began_ > kPeriod; }

  /// The conduit sends bulk now, over no more than so many streams.
  int streams(Sender& sender, Time now) {
    begin(now);
    if (std::exchange(sender.period, period_) != period_) ++count_;
    return streams(now);
  }
  /// The same, of any that sends in this period.
  int streams(Time now) {
    begin(now);
    const std::size_t senders = std::max(count_, before_);
    if (senders <= 1) return kMostStreams;
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
