// Keeps memory of collectives, and of messages that came before their receives, for the next ones.
// The C library unmaps most large blocks on release, and the kernel clears new ones page by page. A
// reduce_scatter of 2 MiB blocks took 9.0 ms with new memory at every call, and 3.0 with kept
// memory (`intervals`, four ranks, November 2026).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/address_sanitizer.hpp"
#include "core/base/mutex.hpp"

namespace isthmus::core {

/// Not initialised; `size` is its real size, which may be more than requested.
struct MemoryBlock {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
};

/// Any thread may call.
class KeptMemory {
 public:
  /// Below this the C library keeps what it was given.
  static constexpr std::size_t kLeast = std::size_t{64} << 10;
  /// A block serves smaller requests, but only down to this part of it. So what is in use is at
  /// most this many times what was requested.
  static constexpr std::size_t kWaste = 2;

  /// Keeps at most `most` bytes.
  explicit KeptMemory(std::size_t most) : most_(most) { kept_.reserve(most / kLeast); }

  MemoryBlock take(std::size_t size) {
    if (size >= kLeast) {
      const Lock lock(mutex_);
      auto best = kept_.end();
      for (auto at = kept_.begin(); at != kept_.end(); ++at) {
        if (at->size < size || at->size / kWaste > size) continue;
        if (best == kept_.end() || at->size < best->size) best = at;
      }
      if (best != kept_.end()) {
        MemoryBlock block = std::move(*best);
        kept_.erase(best);
        bytes_ -= block.size;
        return block;
      }
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }

  /// The oldest blocks make room.
  void give(MemoryBlock block) noexcept {
    if (block.size < kLeast || block.size > most_) return;
    const Lock lock(mutex_);
    while (bytes_ + block.size > most_) {
      bytes_ -= kept_.front().size;
      kept_.erase(kept_.begin());
    }
    bytes_ += block.size;
    kept_.push_back(std::move(block));  // within what has been reserved
  }

  std::size_t kept() const {
    const Lock lock(mutex_);
    return bytes_;
  }

 private:
  const std::size_t most_;
  mutable Mutex mutex_;
  std::vector<MemoryBlock> kept_ GUARDED_BY(mutex_);  // the oldest first
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
};

/// The one of this process: 16 MiB, or 0 for an address sanitizer, which must see each block end.
inline KeptMemory& kept_memory() {
  constexpr std::size_t kMost = kAddressSanitizer ? 0 : std::size_t{16} << 20;
  static KeptMemory& one = *new KeptMemory(kMost);  // outlives static objects that call MPI
  return one;
}

/// A block of it, which goes back there.
class KeptBlock {
 public:
  KeptBlock() = default;
  /// Throws std::bad_alloc.
  explicit KeptBlock(std::size_t size) : block_(kept_memory().take(size)) {}
  ~KeptBlock() { reset(); }
  KeptBlock(KeptBlock&& from) noexcept : block_(std::exchange(from.block_, {})) {}
  KeptBlock& operator=(KeptBlock&& from) noexcept {
    if (this == &from) return *this;
    reset();
    block_ = std::exchange(from.block_, {});
    return *this;
  }

  explicit operator bool() const { return block_.bytes != nullptr; }
  std::byte* get() const { return block_.bytes.get(); }
  void reset() noexcept {
    if (block_.bytes != nullptr) kept_memory().give(std::exchange(block_, {}));
  }

 private:
  MemoryBlock block_;
};

}  // namespace isthmus::core
