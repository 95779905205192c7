// The bytes of a conduit's peer, made by hand: for tests of legal and illegal input.
#pragma once

#include <cstdint>
#include <vector>

#include "core/conduit/conduit_testbed.hpp"

namespace isthmus::core {

inline std::vector<std::byte> packet(FrameKind kind, std::uint64_t sequence,
                                     std::vector<std::byte> body, NodeId source = kB,
                                     NodeId destination = kA) {
  FrameHeader header;
  header.kind = kind;
  header.sequence = sequence;
  header.source = source;
  header.destination = destination;
  header.body_size = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(kHeaderSize);
  encode_header(header, bytes.data());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

inline Hello hello() { return {.session = 7, .window = 1U << 20, .software = "9.9.9"}; }

}  // namespace isthmus::core
