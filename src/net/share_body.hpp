// The body of a Control frame by which processes and their gateway settle how those that send to a
// cluster share the link's rate (core/shares.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace isthmus::net {

struct ShareBody {
  std::size_t cluster = 0;  ///< to which is sent
  /// From a process: what part of the rate it could use, 0 to 1. From a gateway: what part it may.
  double part = 0;
};

std::vector<std::byte> encode_share(const ShareBody& body);
/// Nothing when it is malformed, or another Control frame's.
std::optional<ShareBody> decode_share(std::span<const std::byte> body);

}  // namespace isthmus::net
