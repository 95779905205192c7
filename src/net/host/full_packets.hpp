// Whether a path takes full-sized packets. Some paths take less than both ends believe, and ICMP
// does not say so (RFC 2923, "path-MTU black hole"). Connections open and small segments pass
// there, but full ones never do. The bytes that a connection has carried do not show it: small
// messages may be many. So once a stream got stuck, each new one begins with a wide Ping. Pure: no
// sockets, no clock. One thread.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/conduit/conduit.hpp"

namespace isthmus::net {

class FullPackets {
 public:
  /// A stream that fell silent, or whose kernel sent the same segment in vain.
  struct Stuck {
    core::Time up{}, down{};
    bool probing = false;  ///< it stood, but its wide Ping had no answer
  };

  /// A path gets segments of this size when full-sized ones do not pass: they fit into packets of
  /// 576 bytes, which every path takes (RFC 1122).
  static constexpr int kSmallSegment = 536;
  /// The bytes of a wide Ping, which fill at least one segment whatever else is sent with it.
  static constexpr std::size_t probe(std::size_t segment) {
    return std::clamp(2 * segment, std::size_t{3000}, kMostProbe);
  }

  void stuck(const Stuck& stream) {
    doubtful_ = true;
    // Streams that stood beside the last one show nothing new: one cut ends them all.
    if (!stream.probing || (barren_ > 0 && stream.up < last_)) return;
    ++barren_;
    last_ = stream.down;
  }
  /// A wide Ping was answered.
  void pass() {
    doubtful_ = false;
    if (!fail()) barren_ = 0;
  }
  /// New streams begin with a wide Ping.
  bool doubtful() const { return doubtful_ && !fail(); }
  /// True if segments must be small.
  bool fail() const { return barren_ >= kMostBarren; }

 private:
  static constexpr std::size_t kMostProbe = 18000;  // jumbo frames have 9,000 bytes
  static constexpr int kMostBarren = 2;

  bool doubtful_ = false;
  int barren_ = 0;     // streams in a row
  core::Time last_{};  // when the last one counted ended
};

}  // namespace isthmus::net
