// A sender's side of Shares: it decides when to report that it sends, how much of the link's rate
// it could use, and that it has ceased. It sends meanwhile. Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace isthmus::core {

class Claim {
 public:
  using Time = std::chrono::nanoseconds;

  /// Less than this in a period is not worth a word, unless it is held back.
  static constexpr std::size_t kLeast = std::size_t{32} << 10;
  /// The shortest period: all data within it is one burst.
  static constexpr Time kShortest = std::chrono::milliseconds(20);
  /// A claim is renewed this often (Shares::kForgotten).
  static constexpr Time kRenewed = std::chrono::milliseconds(500);

  /// For a link that carries `rate` bytes a second. A sender may wait for two round trips for its
  /// peer's answer and still count as sending.
  Claim(double rate, Time round_trip) : rate_(rate), period_(std::max(kShortest, 2 * round_trip)) {}

  void sent(std::size_t bytes, Time now) {
    look(now);
    bytes_ += bytes;
    const bool begins = part_ <= 0 && bytes_ >= kLeast;
    if (begins || (part_ > 0 && use() > part_)) want(1);
  }
  /// More could be sent if the pace allowed it.
  void held_back(Time now) {
    look(now);
    held_back_ = true;
    if (part_ < 1) want(1);
  }
  /// Ends periods that are over.
  void look(Time now) {
    if (now - begun_ < period_) return;
    const bool one = now - begun_ < 2 * period_;  // else a whole period had no data
    if (part_ > 0 && !held_back_) {
      want(one && bytes_ > 0 ? std::min(1.0, kRoom * std::max(use(), before_)) : 0);
    }
    if (part_ > 0 && now >= renewed_ + kRenewed) news_ = true;
    before_ = one ? use() : 0;
    begun_ = now;
    bytes_ = 0;
    held_back_ = false;
  }
  /// The part to report now, if it has changed.
  std::optional<double> news(Time now) {
    if (!std::exchange(news_, false)) return {};
    renewed_ = now;
    told_ = part_;
    return part_;
  }
  /// When to look again.
  std::optional<Time> deadline() const {
    if (part_ <= 0) return {};
    return begun_ + period_;
  }

 private:
  // A sender may next use this much more than before without a report.
  static constexpr double kRoom = 1.25;

  double use() const {
    return static_cast<double>(bytes_) / (rate_ * std::chrono::duration<double>(period_).count());
  }
  // Small differences stay untold.
  void want(double part) {
    const bool near = part > 0 && part < told_ && part > 0.75 * told_;
    part_ = near ? told_ : part;
    if (part_ != told_) news_ = true;
  }

  double rate_;
  Time period_, begun_{}, renewed_{};
  std::size_t bytes_ = 0;                    // in this period
  double part_ = 0, told_ = 0, before_ = 0;  // claimed; as last reported; used in the period before
  bool held_back_ = false, news_ = false;
};

}  // namespace isthmus::core
