// The bytes of bulk that are written together to the only stream of a short path. Pure; the caller
// gives the time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/base/time.hpp"
#include "core/streams/stream_plan.hpp"

namespace isthmus::net {

class Batch {
 public:
  /// Each write wakes the receiver, and its last packet is small. In one room, 1 MiB there and back
  /// took 379 us between ranks if written by 256 KiB, and 342 at once. An encrypted stream sends
  /// nothing before all of it is encrypted: 465 us by 128 KiB, and 604 by 256 KiB (30 November
  /// 2026).
  static constexpr std::size_t kPlain = std::size_t{1} * 1024 * 1024;
  /// The first one, and the first after a stream was full. Its successors double as long as the
  /// stream takes all of them: on a slow path they would keep small frames waiting.
  static constexpr std::size_t kFirst = std::size_t{256} * 1024;
  static constexpr std::size_t kEncrypted = std::size_t{128} * 1024;
  /// Small frames cannot overtake what is taken. So a stream that was full for this long takes
  /// little, this many times.
  static constexpr core::Time kSlow = std::chrono::microseconds(300);
  static constexpr int kSmall = 32;

  std::size_t bytes(bool encrypted) const {
    if (small_ > 0) return core::StreamPlan::kAlone;
    return encrypted ? std::min(most_, kEncrypted) : most_;
  }
  /// A batch of this many bytes has been taken.
  void taken(std::size_t bytes) {
    if (small_ > 0) {
      --small_;
    } else if (bytes >= most_) {
      most_ = std::min(2 * most_, kPlain);
    }
  }
  /// The stream could take no more for this long.
  void was_full(core::Time length) {
    if (length < kSlow) return;
    small_ = kSmall;
    most_ = kFirst;
  }

 private:
  int small_ = 0;
  std::size_t most_ = kFirst;
};

}  // namespace isthmus::net
