// Keeps a sender under a rate: a bucket of bytes that fills at the rate and may run into debt.
// Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace isthmus::core {

class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  /// `rate` in bytes a second; 0: as fast as one likes.
  void set(double rate, Time now) {
    fill(now);
    whole_ = rate;
    adopt();
    level_ = most_;
  }
  /// Gives this sender `part` of the rate, above 0 and at most 1. Bytes that it has sent stay sent:
  /// if its part shrinks, it is in debt for them.
  void share(double part, Time now) {
    fill(now);
    const double spent = most_ - level_;
    part_ = std::clamp(part, kLeastPart, 1.0);
    adopt();
    level_ = most_ - spent;
  }
  bool limited() const { return rate_ > 0; }
  bool may_send(Time now) {
    fill(now);
    return rate_ <= 0 || level_ > 0;
  }
  void sent(std::size_t bytes) { level_ -= static_cast<double>(bytes); }
  /// When may_send() will be true again.
  Time next(Time now) const {
    if (rate_ <= 0 || level_ > 0) return now;
    return now + Time(static_cast<std::int64_t>((1 - level_) / rate_ * 1e9) + 1);
  }

 private:
  void fill(Time now) {
    if (now > filled_) {
      level_ =
          std::min(most_, level_ + rate_ * std::chrono::duration<double>(now - filled_).count());
    }
    filled_ = std::max(filled_, now);
  }

  void adopt() {
    rate_ = whole_ * part_;
    // The most that may go at once after a pause, which also makes up for waking late. It is 2 ms'
    // worth (a busy host wakes a process this late; November 2026), or two frames.
    most_ = std::max(128.0 * 1024, whole_ * 2e-3) * part_;
  }

  // A smaller part would make a sender wait for hours.
  static constexpr double kLeastPart = 1e-6;

  double whole_ = 0, part_ = 1;  // the rate, and how much of it this sender has
  double rate_ = 0, most_ = 0, level_ = 0;
  Time filled_{};
};

}  // namespace isthmus::core
