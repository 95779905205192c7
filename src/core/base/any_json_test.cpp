#include "core/base/any_json.hpp"

#include <gtest/gtest.h>

#include <random>

namespace isthmus::core {
namespace {

using nlohmann::json;

TEST(AnyJson, TextThatIsUtf8IsOrdinaryJson) {
  const json value{{"argv", {"a b", "", "\xc3\xa9", "\xf0\x9f\x92\x80", "\n\"\\"}}, {"n", 3}};
  EXPECT_EQ(dump_any(value), value.dump());
  EXPECT_EQ(parse_any(value.dump()), value);
}

TEST(AnyJson, ABytesNumberFollowsU0000) {
  EXPECT_EQ(dump_any("t\xe9t"), "\"t\\u0000\xc3\xa9t\"");
  EXPECT_EQ(dump_any("\x80", true), "\"\\u0000\\u0080\"");
  EXPECT_EQ(parse_any(R"(["t\u0000\u00e9t"])"), json({"t\xe9t"}));
}

TEST(AnyJson, AnyBytesComeBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 8, '\0');
    // Mostly bytes that UTF-8 gives a meaning.
    const std::string_view leads = "\x7f\x80\x9f\xa0\xbf\xc0\xc2\xdf\xe0\xed\xef\xf0\xf4\xf5\xff";
    for (char& byte : bytes) {
      byte = random() % 4 == 0 ? static_cast<char>(1 + random() % 255)
                               : leads[random() % leads.size()];
    }
    const json value{{bytes, {bytes, {{"env", bytes}}}}};
    for (const bool ascii : {false, true}) {
      const std::string text = dump_any(value, ascii);
      ASSERT_TRUE(json::accept(text)) << text;
      EXPECT_EQ(parse_any(text), value) << text;
    }
  }
}

TEST(AnyJson, AnyOtherU0000StaysAsItIs) {
  const json value{std::string("a\0b", 3), std::string("\0", 1), std::string("\0\xc4\x80", 3)};
  EXPECT_EQ(parse_any(value.dump()), value);
}

TEST(AnyJson, WhatIsNotJsonIsDiscarded) {
  EXPECT_TRUE(parse_any("\"\xe9\"").is_discarded());
  EXPECT_TRUE(parse_any("{\"a\\u0000\"").is_discarded());
}

TEST(AnyJson, SecretsAreWiped) {
  json value = parse_any(R"({"secret": "aa", "keys": [{"secret": "bb", "id": "secret"}], "n": 1})");
  wipe_secrets(value);
  EXPECT_EQ(value,
            parse_any(R"({"secret": "", "keys": [{"secret": "", "id": "secret"}], "n": 1})"));
}

TEST(AnyJson, DepthTakesNoStack) {
  const std::string deep = std::string(500'000, '[') + R"("\u0000\u00e9")";
  EXPECT_EQ(parse_any(deep + std::string(500'000, ']')).size(), 1U);
}

}  // namespace
}  // namespace isthmus::core
