// Whether a path takes full-sized packets. Where it takes less than both ends believe, and ICMP
// does not say so (RFC 2923, "path-MTU black hole"), connections open and then stand still: small
// segments pass, full ones never do. Pure: no sockets, no clock. One thread.
#pragma once

#include <cstdint>

#include "core/conduit.hpp"

namespace isthmus::net {

class FullPackets {
 public:
  /// What is known of a stream when it ends without a goodbye.
  struct End {
    core::Time up{};          ///< when it came up
    core::Time down{};        ///< when it ended
    std::uint64_t acked = 0;  ///< bytes that arrived at the other end
    bool stuck = false;       ///< it was silent, or its kernel sent the same segment in vain
  };

  /// A path gets segments of this size when full-sized ones do not pass: they fit into packets of
  /// 576 bytes, which every path takes (RFC 1122).
  static constexpr int kSmallSegment = 536;

  /// Counts a stream that carried nothing but its first words.
  void ended(const End& stream) {
    const bool carried = stream.acked >= kFirstWords || stream.down - stream.up >= kLong;
    if (carried) barren_ = 0;
    // Streams that stood beside the last one show nothing new: one cut ends them all.
    if (carried || !stream.stuck || (barren_ > 0 && stream.up < last_)) return;
    ++barren_;
    last_ = stream.down;
  }
  bool fail() const { return barren_ >= kMostBarren; }

 private:
  // The handshake and the first small frames take less; a full-sized segment or two are more.
  static constexpr std::uint64_t kFirstWords = 6000;
  static constexpr core::Time kLong = std::chrono::seconds(30);
  static constexpr int kMostBarren = 2;

  int barren_ = 0;     // streams in a row
  core::Time last_{};  // when the last one counted ended
};

}  // namespace isthmus::net
