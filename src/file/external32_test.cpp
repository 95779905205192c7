#include "file/external32.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

namespace isthmus::file {
namespace {

constexpr int kLongDouble = LDBL_MANT_DIG == 64 ? kExtendedDouble : 16;

/// `count` elements one after the other.
core::TypeMap row(int element, std::int64_t count) {
  core::TypeMapBuilder builder;
  const std::int64_t size = in_memory(element);
  builder.add(core::TypeMap::basic(size, size, element), count, 0);
  return std::move(builder).build();
}

template <class Value>
std::vector<int> written(int element, const std::vector<Value>& values) {
  const core::TypeMap map = row(element, std::ssize(values));
  std::vector<std::byte> file(values.size() * static_cast<std::size_t>(in_external32(element)));
  core::TypeCursor cursor(map, 1);
  to_external32(cursor, reinterpret_cast<const std::byte*>(values.data()), file);
  std::vector<int> bytes;
  for (const std::byte each : file) bytes.push_back(std::to_integer<int>(each));
  return bytes;
}

template <class Value>
std::vector<Value> read_again(int element, const std::vector<Value>& values) {
  std::vector<std::byte> file;
  for (const int each : written(element, values)) file.push_back(std::byte(each));
  const core::TypeMap map = row(element, std::ssize(values));
  core::TypeCursor cursor(map, 1);
  std::vector<Value> found(values.size());
  const std::size_t got = from_external32(cursor, file, reinterpret_cast<std::byte*>(found.data()));
  EXPECT_EQ(got, values.size() * sizeof(Value));
  return found;
}

using Bytes = std::vector<int>;

TEST(External32, IsBigEndian) {
  EXPECT_EQ(written<char>(1, {1, 2}), (Bytes{1, 2}));
  EXPECT_EQ(written<std::int16_t>(2, {0x0102, -1}), (Bytes{1, 2, 255, 255}));
  EXPECT_EQ(written<std::int32_t>(4, {0x01020304}), (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(written<std::int64_t>(8, {0x0102030405060708}), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(written<float>(4, {1.0F}), (Bytes{0x3f, 0x80, 0, 0}));
  EXPECT_EQ(written<double>(8, {-2.0}), (Bytes{0xc0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(External32, LongIsFourBytesAndKeepsItsSign) {
  EXPECT_EQ(written<std::int64_t>(kLong, {-2}), (Bytes{255, 255, 255, 254}));
  const std::vector<std::int64_t> values{-1, 5, INT32_MIN, INT32_MAX};
  EXPECT_EQ(read_again(kLong, values), values);
  const std::vector<std::uint64_t> large{0xfedcba98U, 7};
  EXPECT_EQ(read_again(kUnsignedLong, large), large);
  EXPECT_EQ(written<std::uint32_t>(kWideCharacter, {0x20ac}), (Bytes{0x20, 0xac}));
  const std::vector<std::uint32_t> wide{0x20ac, 'x'};
  EXPECT_EQ(read_again(kWideCharacter, wide), wide);
}

TEST(External32, LongDoubleIsBinary128) {
  // 1.5 has the exponent 16383 and the first bit of its fraction.
  EXPECT_EQ(written<long double>(kLongDouble, {1.5L}),
            (Bytes{0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const std::vector<long double> values{0.0L,      -0.0L,    1.0L / 3.0L,
                                        -LDBL_MAX, LDBL_MIN, HUGE_VAL,
                                        -HUGE_VAL, 1e-4940L, LDBL_EPSILON + 1.0L};
  const auto found = read_again(kLongDouble, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(found[i], values[i]);
    EXPECT_EQ(std::signbit(found[i]), std::signbit(values[i]));
  }
  EXPECT_TRUE(std::isnan(read_again<long double>(kLongDouble, {std::nanl("")})[0]));
}

TEST(External32, GoesByTheMapAndStopsAfterTheLastWholeElement) {
  core::TypeMapBuilder builder;  // two bytes, a gap, a long
  builder.add(core::TypeMap::basic(1, 1), 2, 0);
  builder.add(core::TypeMap::basic(8, 8, kLong), 1, 8);
  const core::TypeMap map = std::move(builder).build();
  std::vector<std::byte> memory(32, std::byte{9});
  for (const int i : {0, 1, 8, 16, 17, 24}) memory[static_cast<std::size_t>(i)] = std::byte(i);
  std::memset(&memory[9], 0, 7);
  std::memset(&memory[25], 0, 7);
  std::vector<std::byte> file(12);
  core::TypeCursor out(map, 2);
  to_external32(out, memory.data(), file);
  const std::vector<std::byte> expected{std::byte(0), std::byte(1), std::byte(0),  std::byte(0),
                                        std::byte(0), std::byte(8), std::byte(16), std::byte(17),
                                        std::byte(0), std::byte(0), std::byte(0),  std::byte(24)};
  EXPECT_EQ(file, expected);
  std::vector<std::byte> found(32, std::byte{9});
  core::TypeCursor in(map, 2);
  EXPECT_EQ(from_external32(in, std::span(file).first(11), found.data()), 12U);
  std::memset(&memory[24], 9, 8);
  EXPECT_EQ(found, memory);
}

}  // namespace
}  // namespace isthmus::file
