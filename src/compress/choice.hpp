// Chooses which of a link's frames to compress, and in which layout of their bytes, by the measured
// gains. Pure; measurements are given.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace isthmus::compress {

/// Words: bytes of the same place in each word of 4 or 8 bytes stand together. Exponents of numbers
/// that are near each other are alike, their last digits are not. Bends: the same of the words'
/// second differences, which are small if numbers follow a curve.
enum class Layout : std::uint8_t { AsIs = 0, Words4 = 1, Words8 = 2, Bends4 = 3, Bends8 = 4 };
inline constexpr std::size_t kLayouts = 5;

class Choice {
 public:
  /// The link's rate, in bytes a second. 0, as in the beginning: unknown, and compressing is never
  /// worth it.
  void set_rate(double bytes_per_second) { rate_ = bytes_per_second; }

  struct Next {
    bool compress = false;
    Layout layout{};
  };
  /// For the next frame. Now and then a layout is tried that was not the best.
  Next next();
  /// Records that a frame of `bytes` became `compressed` bytes, in `took` of a core's time.
  void measured(Layout layout, std::size_t bytes, std::size_t compressed,
                std::chrono::nanoseconds took);

 private:
  struct Gain {
    double share = 1;    // bytes left of each
    double seconds = 0;  // for each byte
    bool known = false;
  };
  double cost(std::size_t layout) const;  // seconds for a byte; kLayouts: as it comes
  std::size_t best() const;

  double rate_ = 0;
  std::array<Gain, kLayouts> gains_;
  std::size_t chosen_ = kLayouts;  // kLayouts: not compressed
  std::size_t tried_ = 0;          // last, of the layouts
  int frames_ = 0;                 // since then
  int pause_ = 1;                  // frames between two that are tried
};

}  // namespace isthmus::compress
