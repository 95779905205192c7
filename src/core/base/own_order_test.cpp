#include "core/base/own_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace isthmus::core {
namespace {

struct Item {
  std::uint32_t number = 0;
  std::array<char, 3> text{};  // stays
  std::pair<std::int16_t, bool> pair;
  std::vector<std::uint64_t> more;
  auto numbers() { return std::tie(number, text, pair, more); }
};

TEST(OwnOrder, EachNumberIsReversed) {
  Item item{0x01020304, {'a', 'b', 'c'}, {0x0102, true}, {1, 0x0102030405060708}};
  reverse_numbers(item);
  EXPECT_EQ(item.number, 0x04030201U);
  EXPECT_EQ(item.text, (std::array{'a', 'b', 'c'}));
  EXPECT_EQ(item.pair, (std::pair<std::int16_t, bool>{0x0201, true}));
  EXPECT_EQ(item.more, (std::vector<std::uint64_t>{0x0100000000000000, 0x0807060504030201}));
}

TEST(OwnOrder, FloatingPointNumbersAreReversedToo) {
  double number = 1;
  reverse_numbers(number);
  std::array<unsigned char, 8> bytes = std::bit_cast<std::array<unsigned char, 8>>(number);
  const bool little = std::endian::native == std::endian::little;
  EXPECT_EQ(bytes[little ? 0 : 7], 0x3f);
}

TEST(OwnOrder, WhatCrossesIsLittleEndian) {
  const std::uint32_t crossing = as_little_endian(std::uint32_t{0x01020304});
  EXPECT_EQ(reinterpret_cast<const unsigned char*>(&crossing)[0], 4);
}

}  // namespace
}  // namespace isthmus::core
