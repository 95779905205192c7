// Working memory of a collective: bytes, not initialised.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "coll/engine/party.hpp"
#include "core/base/kept_memory.hpp"

namespace isthmus::coll {

/// Set in simulations of collectives that need only times and sizes (bench/sim): addresses without
/// memory behind them, which stand for the memory of all ranks. Nothing is copied there.
inline std::byte* phantom = nullptr;

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : block_(size > 0 && phantom == nullptr ? core::KeptBlock(size) : core::KeptBlock()),
        size_(size) {}
  Buffer(Buffer&& from) noexcept
      : block_(std::move(from.block_)), size_(std::exchange(from.size_, 0)) {}
  Buffer& operator=(Buffer&& from) noexcept {
    block_ = std::move(from.block_);
    size_ = std::exchange(from.size_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  Bytes bytes() { return {block_ ? block_.get() : phantom, size_}; }
  Bytes part(std::size_t offset, std::size_t size) { return bytes().subspan(offset, size); }

 private:
  core::KeptBlock block_;
  std::size_t size_ = 0;
};

/// Copies from.size() bytes (memcpy forbids the null pointers that empty spans may hold).
inline void copy(ConstBytes from, Bytes to) {
  if (!from.empty() && phantom == nullptr) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace isthmus::coll
