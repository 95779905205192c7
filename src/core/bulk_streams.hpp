// Which of a link's streams take its bulk while much of it is under way. Pure; time is given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace isthmus::core {

/// The fewest whose windows hold much, and twice what is under way, the widest first; all, where
/// those of all do not. Narrow ones, beside much wider ones, take no more than their windows have
/// room for: a frame that waits there holds up its message, and so who sends it, for round trips
/// (2026-11: 10 Gbit/s at 50 ms, 48 streams, of which two had windows of 35 MB and the others of 50
/// KB: 3.3 Gbit/s, 19 of 62 MB under way).
class BulkStreams {
 public:
  using Time = std::chrono::nanoseconds;

  /// What has been sent for so long tells the rate.
  static constexpr Time kPeriod = std::chrono::milliseconds(250);
  /// Less is carried as fast by all: 1 Gbit/s at 67 ms has so much under way.
  static constexpr double kMuch = 8 << 20;
  /// What is under way is measured roughly, and a loss shrinks windows.
  static constexpr double kOver = 2;
  /// Fewer would halve what flows with each loss.
  static constexpr std::size_t kLeast = 4;
  /// Of the widest window; one of less is narrow.
  static constexpr double kNarrow = 0.25;

  enum class Part : std::uint8_t {
    All,     ///< takes bulk
    Narrow,  ///< as much as its window has room for
    None,
  };

  void set_round_trip(Time round_trip) { round_trip_ = round_trip; }

  /// So many bytes have been sent in all. True once a period, and at once after a pause, which
  /// shrinks windows: choose() is to be told those of now.
  bool due(Time now, std::uint64_t sent);
  /// The part that streams of these windows, in bytes, have until the next period.
  std::vector<Part> choose(std::span<const double> windows) const;
  /// Bytes a second, in the last period without a pause; 0: none yet.
  double rate() const { return rate_; }

 private:
  double under_way() const { return rate_ * std::chrono::duration<double>(round_trip_).count(); }

  Time round_trip_{}, began_{};
  std::uint64_t before_ = 0;
  double rate_ = 0;
};

}  // namespace isthmus::core
