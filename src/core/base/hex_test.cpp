#include "core/base/hex.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

TEST(Hex, ThereAndBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(from_hex(to_hex(all)), all);
  EXPECT_EQ(to_hex("\x01\xfe"), "01fe");
  EXPECT_EQ(from_hex("0AfE"), "\x0a\xfe");
}

TEST(Hex, WhatIsNone) {
  for (const char* text : {"", "0", "012", "0g", "-1", " 1", "0x12", "+1"}) {
    EXPECT_FALSE(from_hex(text)) << text;
  }
}

}  // namespace
}  // namespace isthmus::core
