// Numbers in network byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace isthmus::lab {

inline std::uint8_t read8(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}
inline std::uint16_t read16(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(read8(bytes, at) << 8 | read8(bytes, at + 1));
}
inline std::uint32_t read32(std::span<const std::byte> bytes, std::size_t at) {
  return std::uint32_t{read16(bytes, at)} << 16 | read16(bytes, at + 2);
}
inline void write16(std::span<std::byte> bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = std::byte(value >> 8);
  bytes[at + 1] = std::byte(value & 0xff);
}
inline void write32(std::span<std::byte> bytes, std::size_t at, std::uint32_t value) {
  write16(bytes, at, static_cast<std::uint16_t>(value >> 16));
  write16(bytes, at + 2, static_cast<std::uint16_t>(value & 0xffff));
}

}  // namespace isthmus::lab
