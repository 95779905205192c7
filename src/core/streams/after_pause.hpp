// Whether data sent now follows a pause: then the receiver waits for its last frames, and windows
// may be unequal, or still grow. Pure; time is given.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace isthmus::core {

class AfterPause {
 public:
  using Time = std::chrono::nanoseconds;

  /// A pause of this length shrinks windows: Linux halves them for each retransmission timeout, and
  /// this is the shortest. A pause of a round trip counts, too: the sender answers another message
  /// (1 MiB back to back over 1 Gbit/s at 11.6 ms, 48 streams: 262 to 359 Mbit/s without, 496 to
  /// 560 with it, plain TCP 560; November 2026).
  static constexpr Time kPause = std::chrono::milliseconds(200);
  /// Windows have grown after this many round trips: 48 streams of 10 segments fill 1 Gbit/s
  /// at 11.6 ms after three; some are late (November 2026).
  static constexpr int kRoundTrips = 8;

  /// Data in a row that fills the buffers on the way, and more.
  static constexpr std::size_t kFlow = std::size_t{32} << 20;
  static constexpr std::size_t kMuch = std::size_t{8} << 20;

  void set_round_trip(Time round_trip) {
    pause_ = std::min(kPause, round_trip);
    growth_ = kRoundTrips * round_trip;
  }
  bool holds(Time now) const { return !begun_ || now - last_ > pause_ || now < grown_; }
  /// Something large is sent.
  void sent(Time now, std::size_t bytes = 0) {
    if (!begun_ || now - last_ > pause_) grown_ = now + growth_;
    if (burst(now) == 0) burst_began_ = now;
    burst_ = burst(now) + bytes;
    begun_ = true;
    last_ = now;
  }
  /// Bytes sent in a row: since half a pause without any.
  std::size_t burst(Time now) const { return now - last_ > pause_ / 2 ? 0 : burst_; }
  /// Enough has been sent in a row, kMuch of it in each round trip, that every window has room for
  /// several large frames.
  bool flows(Time now) const {
    const double took = std::chrono::duration<double>(now - burst_began_).count();
    const double round_trip = std::chrono::duration<double>(growth_).count() / kRoundTrips;
    return burst(now) >= kFlow && double{kMuch} * took <= static_cast<double>(burst_) * round_trip;
  }

 private:
  bool begun_ = false;
  std::size_t burst_ = 0;
  Time pause_ = kPause, growth_{}, last_{}, grown_{}, burst_began_{};
};

}  // namespace isthmus::core
