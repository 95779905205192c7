// The unit that the parts of a channel hand on.
#pragma once

#include <cstdint>

#include "lab/buffer_pool.hpp"

namespace isthmus::lab {

/// A frame with its virtio header: one segment of TCP, or a super-packet of several.
struct Packet {
  BufferPool::Buffer data;
  std::uint32_t size = 0;        ///< of the frame
  std::uint32_t segments = 1;    ///< packets that it is on the wire
  std::uint64_t wire_bytes = 0;  ///< their size there, framing included

  std::span<const std::byte> frame() const { return {data.get(), size}; }
};

}  // namespace isthmus::lab
