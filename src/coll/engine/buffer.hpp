// Working memory of a collective: bytes, not initialised.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// Set where collectives are simulated of which only times and sizes matter (bench/sim): addresses
/// without memory behind them, which then are the memory of all ranks. Nothing is copied there.
inline std::byte* phantom = nullptr;

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : bytes_(size > 0 && phantom == nullptr ? std::make_unique_for_overwrite<std::byte[]>(size)
                                              : nullptr),
        size_(size) {}

  std::size_t size() const { return size_; }
  Bytes bytes() { return {bytes_ != nullptr ? bytes_.get() : phantom, size_}; }
  Bytes part(std::size_t offset, std::size_t size) { return bytes().subspan(offset, size); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

/// Copies from.size() bytes (memcpy forbids the null pointers that empty spans may hold).
inline void copy(ConstBytes from, Bytes to) {
  if (!from.empty() && phantom == nullptr) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace isthmus::coll
