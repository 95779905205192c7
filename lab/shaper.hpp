// Serialisation at a rate: one packet after the other, each for as long as its bytes take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lab/time.hpp"

namespace isthmus::lab {

class Shaper {
 public:
  /// Bits per second; 0 is unlimited. A packet that is being sent keeps its end.
  void set_rate(double rate) {
    nanos_per_byte_ = rate > 0 ? 8e9 / rate : 0;
    fraction_ = 0;
  }

  /// When the next packet can begin.
  Nanos free_at() const { return free_at_; }

  /// The time for that many bytes.
  Nanos duration(std::uint64_t bytes) const {
    return static_cast<Nanos>(static_cast<double>(bytes) * nanos_per_byte_);
  }

  /// Sends, not before `earliest`. Returns when the last bit is on the wire. Parts of nanoseconds
  /// are carried over, so that a long run of packets has exactly the rate.
  Nanos transmit(Nanos earliest, std::uint64_t bytes) {
    if (earliest > free_at_) {
      free_at_ = earliest;
      fraction_ = 0;
    }
    const double nanos = static_cast<double>(bytes) * nanos_per_byte_ + fraction_;
    const auto whole = static_cast<Nanos>(nanos);
    fraction_ = nanos - static_cast<double>(whole);
    free_at_ += whole;
    return free_at_;
  }

  /// Bytes of begun packets that are not yet on the wire.
  std::uint64_t unsent(Nanos now) const {
    if (nanos_per_byte_ == 0 || free_at_ <= now) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(free_at_ - now) / nanos_per_byte_);
  }

  /// Forgets what is being sent.
  void stop(Nanos now) {
    free_at_ = std::min(free_at_, now);
    fraction_ = 0;
  }

 private:
  double nanos_per_byte_ = 0;
  double fraction_ = 0;
  Nanos free_at_ = 0;
};

}  // namespace isthmus::lab
