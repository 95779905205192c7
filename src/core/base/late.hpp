// When a frame that has not been acknowledged is late, and how much may go twice for that. Pure;
// time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace isthmus::core {

class Late {
 public:
  using Time = std::chrono::nanoseconds;

  /// On shorter round trips, a kernel's own timeouts are many round trips, and repeating a frame
  /// does not change that. Answers that a busy host delays look like losses.
  static constexpr Time kLeastRoundTrip = std::chrono::milliseconds(2);
  /// At most this part of the sent bytes goes twice, and kBurst besides.
  static constexpr double kShare = 1.0 / 16;
  static constexpr double kBurst = 128.0 * 1024;
  /// No frame goes again more often.
  static constexpr int kTries = 2;

  /// A stream with a late frame takes no others for this time: Linux's wait before it repeats a
  /// lost tail, and a round trip.
  Time avoided() const { return kTimeout + round_trip_; }

  void set_round_trip(Time round_trip) {
    round_trip_ = round_trip >= kLeastRoundTrip ? round_trip : Time::zero();
    near_ = round_trip < kLeastRoundTrip / 2;
  }
  bool possible() const { return round_trip_ > Time::zero(); }
  /// No frame is late at the other end, either, which may have measured up to twice this time.
  bool near() const { return near_; }

  /// Longest delay for batching acknowledgements: a quarter of a round trip, hardly noticed by the
  /// sender.
  Time ack_delay() const { return round_trip_ / 4; }

  /// A frame is late after two round trips: those of the path, or those that frames take by now.
  Time after() const {
    return std::min(std::max(2 * round_trip_ + kAckDelay, smoothed_ + 4 * deviation_),
                    std::max(kMost, 2 * round_trip_ + kAckDelay));
  }
  /// A frame sent this shortly before an acknowledged one should be acknowledged as well.
  Time beside() const { return round_trip_ / 4; }

  /// If a loss cannot be distinguished from a path that has become slow, one frame goes again as a
  /// question. The next one may go only after a longer wait.
  bool may_ask(Time now) const { return now >= ask_at_; }
  void asks(Time now) {
    wait_ = std::min(std::max(after(), 2 * wait_), kLongest);
    ask_at_ = now + wait_;
  }

  void sent(std::size_t bytes) {
    budget_ = std::min(kBurst, budget_ + kShare * static_cast<double>(bytes));
  }
  bool may_spend(std::size_t bytes) const { return budget_ >= static_cast<double>(bytes); }
  void spend(std::size_t bytes) { budget_ -= static_cast<double>(bytes); }

  // An acknowledgement, and the frames that it is for: of those that went once.
  void begin_ack() { longest_ = Time(-1); }
  void acked_after(Time taken) { longest_ = std::max(longest_, taken); }
  void end_ack() {
    if (longest_ < Time::zero()) return;
    wait_ = ask_at_ = Time::zero();
    const Time apart = longest_ > smoothed_ ? longest_ - smoothed_ : smoothed_ - longest_;
    const bool first = smoothed_ == Time::zero();
    deviation_ = first ? longest_ / 2 : deviation_ + (apart - deviation_) / 4;
    smoothed_ = first ? longest_ : smoothed_ + (longest_ - smoothed_) / 8;
  }

 private:
  static constexpr Time kTimeout = std::chrono::milliseconds(200);
  // An acknowledgement's wait for others, and its reading thread's wait for a core.
  static constexpr Time kAckDelay = std::chrono::milliseconds(2);
  static constexpr Time kMost = std::chrono::seconds(1);
  static constexpr Time kLongest = std::chrono::seconds(5);

  Time round_trip_{}, smoothed_{}, deviation_{}, longest_{};
  Time wait_{}, ask_at_{};
  double budget_ = kBurst;
  bool near_ = true;
};

}  // namespace isthmus::core
