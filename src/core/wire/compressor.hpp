// Makes frames smaller on the wire, as a conduit sees it.
#pragma once

#include <cstddef>
#include <span>

namespace isthmus::core {

class Compressor {
 public:
  Compressor() = default;
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// A whole frame in fewer bytes, valid until the next call. Empty: send it uncompressed.
  virtual std::span<const std::byte> compress(std::span<const std::byte> frame) = 0;
  /// The frame that was compressed: at most kHeaderSize + kMaxBody bytes, valid until the next
  /// call. Empty: these bytes are of no frame.
  virtual std::span<const std::byte> decompress(std::span<const std::byte> body) = 0;
};

}  // namespace isthmus::core
