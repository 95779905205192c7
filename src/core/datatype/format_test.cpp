#include "core/datatype/format.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace isthmus::core {
namespace {

constexpr Format kX86{ByteOrder::Little, LongDouble::Extended};
constexpr Format kArm{ByteOrder::Little, LongDouble::Quad};
constexpr Format kZ{ByteOrder::Big, LongDouble::Quad};

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes all;
  for (const int value : values) all.push_back(std::byte(value));
  return all;
}
Bytes counted(int count) {
  Bytes all;
  for (int i = 0; i < count; ++i) all.push_back(std::byte(i));
  return all;
}
Bytes changed(Bytes data, int element, Format from, Format to) {
  change_format(data, element, from, to);
  return data;
}
Bytes changed(Bytes data, const TypeMap& map, Format from, Format to) {
  change_format(data, map, from, to);
  return data;
}

TEST(Format, NumbersAreReversedWhereTheByteOrderDiffers) {
  EXPECT_EQ(changed(counted(3), 1, kX86, kZ), counted(3));
  EXPECT_EQ(changed(counted(4), 2, kX86, kZ), bytes({1, 0, 3, 2}));
  EXPECT_EQ(changed(counted(8), 4, kZ, kArm), bytes({3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(changed(counted(8), 8, kZ, kArm), bytes({7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(changed(counted(16), 16, kZ, kArm),
            bytes({15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(changed(counted(8), 4, kX86, kArm), counted(8)) << "one byte order";
}

TEST(Format, BytesBehindTheLastWholeNumberStay) {
  EXPECT_EQ(changed(counted(7), 4, kX86, kZ), bytes({3, 2, 1, 0, 4, 5, 6}));
  EXPECT_EQ(changed(counted(15), kLongDoubleElement, kX86, kArm), counted(15));
}

TEST(Format, LongDoublesChangeTheirFormat) {
  const Bytes x86 = bytes({1, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 9, 9, 9, 9, 9, 9});
  const Bytes arm = bytes({0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x3f});
  const Bytes z(arm.rbegin(), arm.rend());
  const Bytes clean = bytes({1, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(changed(x86, kLongDoubleElement, kX86, kArm), arm);
  EXPECT_EQ(changed(arm, kLongDoubleElement, kArm, kX86), clean);
  EXPECT_EQ(changed(x86, kLongDoubleElement, kX86, kZ), z);
  EXPECT_EQ(changed(z, kLongDoubleElement, kZ, kX86), clean);
  EXPECT_EQ(changed(arm, kLongDoubleElement, kArm, kZ), z);
  EXPECT_EQ(changed(x86, kLongDoubleElement, kX86, kX86), x86);
}

TEST(Format, LongDoublesOfUnknownFormatAreOnlyReversed) {
  constexpr Format kOther{ByteOrder::Little, LongDouble::Other};
  EXPECT_EQ(changed(counted(16), kLongDoubleElement, kOther, kArm), counted(16));
}

/// A character, an int, two shorts; with gaps.
TypeMap structure() {
  TypeMapBuilder builder;
  builder.add(TypeMap::basic(1, 1), 1, 0);
  builder.add(TypeMap::basic(4, 4, 4), 1, 4);
  builder.add(TypeMap::basic(2, 2, 2), 2, 16);
  return std::move(builder).build();
}

TEST(Format, PackedElementsGoByTheMap) {
  const Bytes expected = bytes({0, 4, 3, 2, 1, 6, 5, 8, 7, 9, 13, 12, 11, 10, 15, 14, 17, 16});
  EXPECT_EQ(changed(counted(18), structure(), kX86, kZ), expected);
}

TEST(Format, PackedElementsMayEndAnywhere) {
  const Bytes whole = changed(counted(18), structure(), kX86, kZ);
  const std::vector<std::size_t> ends{1, 5, 7, 9, 10, 14, 16, 18};  // of elements
  for (int size = 0; size <= 18; ++size) {
    const Bytes found = changed(counted(size), structure(), kX86, kZ);
    std::size_t sound = 0;
    for (const std::size_t end : ends) sound = end <= found.size() ? end : sound;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i], i < sound ? whole[i] : std::byte(i)) << size << ' ' << i;
    }
  }
}

TEST(Format, EveryChangeOfNumbersIsTakenBack) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    TypeMapBuilder builder;
    std::int64_t place = 0;
    for (int k = 0; k < 4; ++k) {
      const int element = 1 << random() % 5;
      const auto block = static_cast<std::int64_t>(random() % 4);
      builder.add(TypeMap::basic(element, element, element), block, place);
      place += 16 * block + 3;
    }
    const TypeMap map = std::move(builder).build();
    Bytes data(random() % 200);
    for (std::byte& each : data) each = std::byte(random());
    EXPECT_EQ(changed(changed(data, map, kArm, kZ), map, kZ, kArm), data);
    EXPECT_EQ(changed(data, map, kArm, kX86), data) << "it has no long double";
  }
}

}  // namespace
}  // namespace isthmus::core
