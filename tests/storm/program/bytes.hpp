// The contents of messages: a function of a key and of the position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "random.hpp"

namespace storm {

constexpr unsigned char pattern(std::uint64_t key, std::size_t position) {
  return static_cast<unsigned char>(mixed(key + position / 8) >> (position % 8 * 8));
}

/// Writes the pattern of `key` from position `at` on.
void fill(std::span<unsigned char> bytes, std::uint64_t key, std::size_t at = 0);

/// The first byte that is not as `fill` made it; the number of bytes where all are.
std::size_t first_wrong(std::span<const unsigned char> bytes, std::uint64_t key,
                        std::size_t at = 0);

/// Memory of a message. Copies share it, so each holder of an operation that is not complete has
/// one.
class Bytes {
 public:
  explicit Bytes(std::size_t size)
      : size_(size), bytes_(std::make_shared<unsigned char[]>(size + 8)) {}
  Bytes(std::size_t size, std::uint64_t key) : Bytes(size) { fill(all(), key); }

  [[nodiscard]] unsigned char* data() const { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int count() const { return static_cast<int>(size_); }
  [[nodiscard]] std::span<unsigned char> all() const { return {bytes_.get(), size_}; }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(bytes_.get());
  }
  /// Changes the bytes, as a program may once an operation has let go of its buffer. The last bytes
  /// go first: a copy that is still being made is then more likely to see it.
  void spoil() const;

 private:
  std::size_t size_;
  std::shared_ptr<unsigned char[]> bytes_;
};

}  // namespace storm
