// The message that the last probe for any source found on a communicator, by its source. A receive
// from any source with the same pattern gets that message (MPI-4.1 section 3.8.1), and another
// probe finds it again. Messages that have come by the other transport since do not change that.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/wire/message.hpp"

namespace isthmus::face {

/// Tags may be core::kAnyTag. Safe from several threads. A receive that a thread posts between
/// another's probe and receive may get the message, as it may natively.
class Probed {
 public:
  /// For every receive, of whose time each nanosecond counts.
  bool none() const { return word_.load(std::memory_order_relaxed) == kNone; }

  /// A probe for any source and `tag` found a message of the rank `source`.
  void remember(int source, int tag) { word_.store(word(source, tag), std::memory_order_relaxed); }

  /// The source, if the last probe asked for `tag`.
  std::optional<int> source_for(int tag) const {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    if (word == kNone || tag_of(word) != tag) return std::nullopt;
    return source_of(word);
  }

  /// A receive from the rank `source`, or core::kAnySource, may have taken the message.
  void forget(int source, int tag) {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    if (word == kNone) return;
    const int asked = tag_of(word);
    const bool other_source = source != core::kAnySource && source != source_of(word);
    const bool other_tag = tag != core::kAnyTag && asked != core::kAnyTag && tag != asked;
    if (!other_source && !other_tag) word_.store(kNone, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // no rank is negative
  static std::uint64_t word(int source, int tag) {
    return std::uint64_t{static_cast<std::uint32_t>(source)} << 32U |
           static_cast<std::uint32_t>(tag);
  }
  static int source_of(std::uint64_t word) { return static_cast<int>(word >> 32U); }
  static int tag_of(std::uint64_t word) {
    return static_cast<int>(static_cast<std::uint32_t>(word));
  }

  std::atomic<std::uint64_t> word_{kNone};
};

}  // namespace isthmus::face
