#include "core/datatype/long_double.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cstring>
#include <random>

namespace isthmus::core {
namespace {

constexpr std::uint64_t kOne = std::uint64_t{1} << 63;  // the integer bit

QuadDouble quad(std::uint64_t sign_and_exponent, std::uint64_t high = 0, std::uint64_t low = 0) {
  return {.high = sign_and_exponent << 48 | high, .low = low};
}
/// An extended double that is a number, from sign, exponent and 63 bits of fraction.
ExtendedDouble extended(std::uint16_t head, std::uint64_t fraction) {
  return {.significand = (head & 0x7fff) == 0 ? fraction : kOne | fraction, .head = head};
}

TEST(LongDouble, NumbersThatBothHave) {
  EXPECT_EQ(quad_from({.significand = 0, .head = 0}), quad(0));
  EXPECT_EQ(quad_from({.significand = 0, .head = 0x8000}), quad(0x8000));
  EXPECT_EQ(quad_from(extended(0x3fff, 0)), quad(0x3fff));
  EXPECT_EQ(quad_from(extended(0x3fff, kOne >> 1)), quad(0x3fff, std::uint64_t{1} << 47));
  EXPECT_EQ(quad_from(extended(0x3fff, 1)), quad(0x3fff, 0, std::uint64_t{1} << 49));
  EXPECT_EQ(quad_from(extended(0, 1)), quad(0, 0, std::uint64_t{1} << 49)) << "the smallest";
  EXPECT_EQ(quad_from(extended(0xffff, 0)), quad(0xffff)) << "minus infinity";
}

TEST(LongDouble, EachExtendedDoubleComesBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    auto head = static_cast<std::uint16_t>(random());
    if (i % 4 == 0) head |= 0x7fff;
    if (i % 4 == 1) head &= 0x8000;
    const ExtendedDouble value = extended(head, (random() & ~kOne) >> (random() % 64));
    EXPECT_EQ(extended_from(quad_from(value)), value) << value.head << ' ' << value.significand;
  }
}

TEST(LongDouble, PatternsThatX86RefusesAreNoNumbers) {
  const QuadDouble nan = quad(0x7fff, std::uint64_t{1} << 47);
  EXPECT_EQ(quad_from({.significand = 5, .head = 0x3fff}), nan) << "an unnormal";
  EXPECT_EQ(quad_from({.significand = 0, .head = 0x7fff}), nan) << "a pseudo-infinity";
  EXPECT_EQ(quad_from({.significand = 7, .head = 0xffff}), quad(0xffff, std::uint64_t{1} << 47));
  EXPECT_EQ(quad_from({.significand = kOne | 2, .head = 0}), quad(1, 0, std::uint64_t{2} << 49))
      << "x86 takes a pseudo-denormal for the number";
}

TEST(LongDouble, RoundsToTheNearestAndToEven) {
  const std::uint64_t half = std::uint64_t{1} << 48, unit = half << 1;
  EXPECT_EQ(extended_from(quad(0x3fff, 0, half - 1)), extended(0x3fff, 0));
  EXPECT_EQ(extended_from(quad(0x3fff, 0, half)), extended(0x3fff, 0));
  EXPECT_EQ(extended_from(quad(0x3fff, 0, half + 1)), extended(0x3fff, 1));
  EXPECT_EQ(extended_from(quad(0x3fff, 0, unit + half - 1)), extended(0x3fff, 1));
  EXPECT_EQ(extended_from(quad(0x3fff, 0, unit + half)), extended(0x3fff, 2));
  EXPECT_EQ(extended_from(quad(0xbfff, 0, unit + half)), extended(0xbfff, 2));
  const std::uint64_t all = (std::uint64_t{1} << 48) - 1;
  EXPECT_EQ(extended_from(quad(0x3fff, all, ~std::uint64_t{0})), extended(0x4000, 0));
  EXPECT_EQ(extended_from(quad(0, 0, half)), extended(0, 0)) << "half of the smallest";
  EXPECT_EQ(extended_from(quad(0, 0, half + 1)), extended(0, 1));
  EXPECT_EQ(extended_from(quad(0, all, ~std::uint64_t{0})), extended(1, 0))
      << "the largest denormal rounds to the smallest that is normal";
}

TEST(LongDouble, WhatIsTooLargeAndWhatIsNoNumber) {
  const std::uint64_t all = (std::uint64_t{1} << 48) - 1;
  EXPECT_EQ(extended_from(quad(0x7ffe, all, ~std::uint64_t{0})), extended(0x7fff, 0));
  EXPECT_EQ(extended_from(quad(0xfffe, all, ~std::uint64_t{0})), extended(0xffff, 0));
  EXPECT_EQ(extended_from(quad(0x7fff)), extended(0x7fff, 0)) << "infinity";
  EXPECT_EQ(extended_from(quad(0x7fff, 0, 1)), extended(0x7fff, kOne >> 1))
      << "a NaN whose payload is lost is not infinity";
  EXPECT_EQ(extended_from(quad(0x7fff, std::uint64_t{1} << 47, 1)), extended(0x7fff, kOne >> 1));
}

#if LDBL_MANT_DIG == 64 && defined(__SIZEOF_FLOAT128__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpedantic"
TEST(LongDouble, RoundsAsTheCompilerDoes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    std::uint64_t high = random(), low = random();
    if (i % 3 == 0) high &= 0x8000ffffffffffff;  // denormal
    if (i % 3 == 1) low = (low & ~std::uint64_t{0x1ffffffffffff}) | std::uint64_t{1} << 48;  // tie
    if ((high >> 48 & 0x7fff) == 0x7fff) continue;
    __float128 value;
    const std::uint64_t words[] = {low, high};
    std::memcpy(&value, words, sizeof value);
    const auto expected = static_cast<long double>(value);
    ExtendedDouble found;
    std::memcpy(&found.significand, &expected, 8);
    std::memcpy(&found.head, reinterpret_cast<const char*>(&expected) + 8, 2);
    ASSERT_EQ(extended_from({.high = high, .low = low}), found) << high << ' ' << low;
  }
}
#endif

}  // namespace
}  // namespace isthmus::core
