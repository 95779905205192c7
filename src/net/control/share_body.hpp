// The body of a Control frame by which processes and their gateway settle how those that send to a
// cluster share the link's rate (core/streams/shares.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace isthmus::net {

struct ShareBody {
  std::size_t cluster = 0;  ///< the receiver's
  /// The part of the rate, 0 to 1, that a process could use, or that a gateway allows.
  double part = 0;
};

std::vector<std::byte> encode_share(const ShareBody& body);
/// Empty if it is malformed, or another type of Control frame.
std::optional<ShareBody> decode_share(std::span<const std::byte> body);

}  // namespace isthmus::net
