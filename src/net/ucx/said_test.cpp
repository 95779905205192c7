#include <gtest/gtest.h>

#include <string_view>

#include "net/ucx/said_body.hpp"

namespace isthmus::net::ucx {
namespace {

using namespace std::string_view_literals;

std::optional<Said> read(std::string_view body) {
  return read_said(std::as_bytes(std::span(body.data(), body.size())));
}

TEST(UcxSaidTest, WhatIsMalformedIsFoundOut) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("\4"sv)) << "no such thing to say";
  EXPECT_FALSE(read("\0\5too"sv)) << "a reason that is cut off";
  EXPECT_FALSE(read("\1 a key without a window"sv));
  EXPECT_FALSE(read("\1 0123456789abcde\0\0\0\0\15\0\1\0address"sv)) << "a window of nothing";
  EXPECT_FALSE(read("\1 0123456789abcde\0\0\1\0\15\0\1\0"sv)) << "no address";
}

TEST(UcxSaidTest, ReasonsAreOneLineOfText) {
  const auto no = read("\0\7bad\n\x1b[m"sv);
  ASSERT_TRUE(no);
  EXPECT_EQ(no->says, Says::No);
  EXPECT_EQ(no->why, "bad  [m");
}

TEST(UcxSaidTest, ACardIsReadWhole) {
  const auto here = read("\1\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\1\0\15\0\1\0address"sv);
  ASSERT_TRUE(here);
  EXPECT_EQ(here->card.key, (Key{1, 2}));
  EXPECT_EQ(here->card.window, 65536U);
  EXPECT_EQ(here->card.version, 65536U + 13);
  EXPECT_EQ(here->card.address.size(), 7U);
}

}  // namespace
}  // namespace isthmus::net::ucx
