// Messages by size: counters that one thread writes and another may read.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace isthmus::face::profile {

/// Adds without a locked instruction: a counter has one writer.
inline void add(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/// Class 0 has no bytes, class k from 2^(k-1) to 2^k - 1; the last has all above as well.
constexpr std::size_t kSizeClasses = 48;
constexpr std::size_t size_class(std::uint64_t bytes) {
  const auto width = static_cast<std::size_t>(std::bit_width(bytes));
  return width < kSizeClasses ? width : kSizeClasses - 1;
}

/// The traffic of one direction: bytes, and messages by size.
struct Sizes {
  std::atomic<std::uint64_t> bytes{0};
  std::array<std::atomic<std::uint64_t>, kSizeClasses> messages{};

  void count(std::uint64_t size) {
    add(bytes, size);
    add(messages[size_class(size)], 1);
  }
};

}  // namespace isthmus::face::profile
