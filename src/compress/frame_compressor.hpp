// Compresses frames with Zstandard if a link gains more than it costs, and decompresses untrusted
// ones.
//
// A compressed body is a byte for the layout and one block of Zstandard.
#pragma once

#include <memory>
#include <vector>

#include "compress/choice.hpp"
#include "core/wire/compressor.hpp"

namespace isthmus::compress {

class FrameCompressor final : public core::Compressor {
 public:
  FrameCompressor();
  ~FrameCompressor() override;

  /// As Choice::set_rate.
  void set_rate(double bytes_per_second) { choice_.set_rate(bytes_per_second); }

  std::span<const std::byte> compress(std::span<const std::byte> frame) override;
  std::span<const std::byte> decompress(std::span<const std::byte> body) override;

  /// In this layout, even without a gain; valid until the next call.
  std::span<const std::byte> compress_as(Layout layout, std::span<const std::byte> frame);

 private:
  struct Contexts;

  Choice choice_;
  std::unique_ptr<Contexts> contexts_;
  std::vector<std::byte> bends_, words_, packed_, whole_;
};

}  // namespace isthmus::compress
