// A peer may send any bytes as a compressed frame. Checks that no access goes beyond an end, and
// that the result is at most a frame.
#include <cstdint>
#include <cstdlib>

#include "compress/frame_compressor.hpp"
#include "core/wire/wire.hpp"

using namespace isthmus;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static compress::FrameCompressor compressor;
  const auto whole = compressor.decompress({reinterpret_cast<const std::byte*>(data), size});
  if (whole.size() > core::kHeaderSize + core::kMaxBody) std::abort();
  std::size_t sum = 0;  // so that all of it is read
  for (const std::byte one : whole) sum += std::to_integer<unsigned>(one);
  if (sum > 255 * whole.size()) std::abort();
  return 0;
}
