#include "compress/frame_compressor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "compress/words.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::compress {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kLargest = core::kHeaderSize + core::kMaxBody;

Bytes random_bytes(std::size_t size) {
  std::mt19937 random(7);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

Bytes smooth_doubles(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; 8 * (i + 1) <= size; ++i) {
    const double value = std::sin(1e-3 * static_cast<double>(i));
    std::memcpy(bytes.data() + 8 * i, &value, 8);
  }
  return bytes;
}

bool same(std::span<const std::byte> a, const Bytes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(Words, ComeBackForEverySize) {
  for (const std::size_t width : {4U, 8U}) {
    for (std::size_t size = 0; size < 70; ++size) {
      const Bytes bytes = random_bytes(size);
      Bytes there(size), back(size);
      spread_words(bytes, width, there);
      gather_words(there, width, back);
      EXPECT_EQ(back, bytes) << size;
      bend_words(bytes, width, back);
      unbend_words(back, width);
      EXPECT_EQ(back, bytes) << size;
    }
  }
}

TEST(Words, BytesOfOnePlaceStandTogether) {
  const std::string text = "a1b2c3d4A5B6C7D8_";
  Bytes from(text.size()), to(text.size());
  std::memcpy(from.data(), text.data(), text.size());
  spread_words(from, 4, to);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(to.data()), to.size()), "acAC1357bdBD2468_");
}

TEST(FrameCompressor, EveryLayoutComesBack) {
  FrameCompressor here, there;
  for (const std::size_t size : {25UL, 1000UL, kLargest}) {
    for (const Layout layout :
         {Layout::AsIs, Layout::Words4, Layout::Words8, Layout::Bends4, Layout::Bends8}) {
      for (const Bytes& frame : {random_bytes(size), smooth_doubles(size), Bytes(size)}) {
        EXPECT_TRUE(same(there.decompress(here.compress_as(layout, frame)), frame));
      }
    }
  }
}

TEST(FrameCompressor, SmoothDoublesShrinkByTheirWords) {
  FrameCompressor compressor;
  const Bytes frame = smooth_doubles(std::size_t{64} << 10);
  const auto as_is = compressor.compress_as(Layout::AsIs, frame).size();
  const auto words = compressor.compress_as(Layout::Words8, frame).size();
  EXPECT_LT(words, 0.8 * static_cast<double>(frame.size()));
  EXPECT_LT(words, as_is);
  EXPECT_LT(compressor.compress_as(Layout::Bends8, frame).size(), words);
}

TEST(FrameCompressor, WhatDoesNotShrinkGoesAsItIs) {
  FrameCompressor compressor;
  compressor.set_rate(1e6);
  const Bytes frame = random_bytes(std::size_t{64} << 10);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(compressor.compress(frame).empty());
}

TEST(FrameCompressor, NonsenseIsNoFrame) {
  FrameCompressor compressor;
  EXPECT_TRUE(compressor.decompress({}).empty());
  EXPECT_TRUE(compressor.decompress(random_bytes(1000)).empty());
  Bytes packed;
  const auto made = compressor.compress_as(Layout::AsIs, smooth_doubles(5000));
  packed.assign(made.begin(), made.end());
  Bytes cut(packed.begin(), packed.end() - 1);
  EXPECT_TRUE(compressor.decompress(cut).empty());
  packed[0] = std::byte{kLayouts};
  EXPECT_TRUE(compressor.decompress(packed).empty());
}

TEST(FrameCompressor, NothingGrowsBeyondAFrame) {
  FrameCompressor compressor;
  const auto made = compressor.compress_as(Layout::AsIs, Bytes(kLargest + 1));
  const Bytes packed(made.begin(), made.end());
  EXPECT_TRUE(compressor.decompress(packed).empty());
}

}  // namespace
}  // namespace isthmus::compress
