// Whether streams have paused for so long that their kernel has let their windows shrink, and what
// is sent now meets windows that are still growing. Pure; time is given.
#pragma once

#include <chrono>

namespace isthmus::core {

class AfterPause {
 public:
  using Time = std::chrono::nanoseconds;

  /// Linux halves an idle stream's window for each retransmission timeout, of which this is the
  /// shortest.
  static constexpr Time kPause = std::chrono::milliseconds(200);
  /// Windows have grown after so many: 48 streams of 10 segments fill 1 Gbit/s at 11.6 ms after
  /// three; some are late (November 2026).
  static constexpr int kRoundTrips = 8;

  void set_round_trip(Time round_trip) { growth_ = kRoundTrips * round_trip; }
  bool holds(Time now) const { return !begun_ || now - last_ > kPause || now < grown_; }
  /// Something large is sent.
  void sent(Time now) {
    if (!begun_ || now - last_ > kPause) grown_ = now + growth_;
    begun_ = true;
    last_ = now;
  }

 private:
  bool begun_ = false;
  Time growth_{}, last_{}, grown_{};
};

}  // namespace isthmus::core
