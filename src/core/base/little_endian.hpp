// Numbers in frames and bodies: little-endian on every host. On little-endian hosts each is one
// move of the processor: compilers do not make one of a loop over bytes.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace isthmus::core {

template <std::unsigned_integral T>
void store_number(std::byte* to, T value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &value, sizeof value);
  } else {
    for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

template <std::unsigned_integral T>
T load_number(const std::byte* from) {
  T value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, from, sizeof value);
  } else {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<T>(static_cast<T>(from[i]) << (8 * i));
    }
  }
  return value;
}

}  // namespace isthmus::core
