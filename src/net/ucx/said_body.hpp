// The bodies of Leg frames: what the two ends of a stream say about going over to UCX, or to shared
// memory. Without streams, so that it can be fuzzed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace isthmus::net::ucx {

/// Identifies the messages of a pipe.
using Key = std::array<std::uint64_t, 2>;

/// The facts that the other end must know about this one. It is sent after both have proved who
/// they are.
struct Card {
  Key key{};
  std::uint32_t window = 0;   ///< bytes that may have come here unread
  std::uint32_t version = 0;  ///< of UCX: 65536 major + minor
  std::vector<std::byte> address{};
};

/// No: bytes cannot go by another leg, and why. Here: the address of UCX on this side. Good: they
/// can go by it. Memory: the next byte brings shared memory (shm/leg.hpp).
enum class Says : std::uint8_t { No = 0, Here = 1, Good = 2, Memory = 3 };

struct Said {
  Says says = Says::No;
  std::string why{};  ///< No
  Card card{};        ///< Here
};

/// The body of a Leg frame; nothing when it is malformed. One that is read is written alike.
std::optional<Said> read_said(std::span<const std::byte> body);
std::vector<std::byte> write_said(const Said& said);

/// The largest body of a Leg frame.
inline constexpr std::size_t kMostSaid = std::size_t{16} << 10;

}  // namespace isthmus::net::ucx
