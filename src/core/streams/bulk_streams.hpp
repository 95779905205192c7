// Which of a link's streams take its bulk while much of it is under way. Pure; time is given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace isthmus::core {

/// The fewest streams whose windows hold kMuch, and twice the bytes under way, the widest first; or
/// all streams, if they hold less. Narrow streams, beside much wider ones, take only as much as
/// their windows have room for. A frame that waited there would delay its message, and so its
/// sender, for round trips (2026-11: 10 Gbit/s at 50 ms, 48 streams, two with windows of 35 MB and
/// the others with 50 KB: 3.3 Gbit/s, 19 of 62 MB under way).
class BulkStreams {
 public:
  using Time = std::chrono::nanoseconds;

  /// The rate is measured over this time.
  static constexpr Time kPeriod = std::chrono::milliseconds(250);
  /// All streams carry less than this just as fast: 1 Gbit/s at 67 ms has this much under way.
  static constexpr double kMuch = 8 << 20;
  /// The measure of the bytes under way is rough, and a loss shrinks windows.
  static constexpr double kOver = 2;
  /// Fewer would halve what flows with each loss.
  static constexpr std::size_t kLeast = 4;
  /// A stream is narrow below this part of the widest window.
  static constexpr double kNarrow = 0.25;

  enum class Part : std::uint8_t {
    All,     ///< takes bulk
    Narrow,  ///< as much as its window has room for
    None,
  };

  void set_round_trip(Time round_trip) { round_trip_ = round_trip; }

  /// `sent`: the bytes sent in all. True once a period, and at once after a pause, which shrinks
  /// windows: then call choose() with the present windows.
  bool due(Time now, std::uint64_t sent);
  /// The parts of streams with these windows, in bytes, until the next period.
  std::vector<Part> choose(std::span<const double> windows) const;
  /// Bytes a second, in the last period without a pause; 0 before the first one.
  double rate() const { return rate_; }

 private:
  double under_way() const { return rate_ * std::chrono::duration<double>(round_trip_).count(); }

  Time round_trip_{}, began_{};
  std::uint64_t before_ = 0;
  double rate_ = 0;
};

}  // namespace isthmus::core
