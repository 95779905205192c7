#include "lab/settings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "lab/testing.hpp"

namespace isthmus::lab {
namespace {

using nlohmann::json;

TEST(Settings, ChangeWhatIsNamed) {
  const auto first = changed({}, json::parse(R"({"both": {"delay": 0.0058, "rate": 1e9},
                                                 "ba": {"queue": 100, "loss": 0.5}})"));
  EXPECT_EQ(first[0].delay, 5'800'000);
  EXPECT_EQ(first[1].delay, 5'800'000);
  EXPECT_EQ(first[0].queue, 0U);
  EXPECT_EQ(first[1].queue, 100U);
  const auto second = changed(first, json::parse(R"({"ab": {"up": false}})"));
  EXPECT_FALSE(second[0].up);
  EXPECT_EQ(second[0].rate, 1e9);
  EXPECT_EQ(second[1], first[1]);
}

TEST(Settings, OneDirectionWinsOverBoth) {
  const auto found = changed({}, json::parse(R"({"ab": {"rate": 5}, "both": {"rate": 7}})"));
  EXPECT_EQ(found[0].rate, 5);
  EXPECT_EQ(found[1].rate, 7);
}

TEST(Settings, OpenAddresses) {
  auto found = changed({}, json::parse(R"({"ab": {"open": ["10.2.0.1"]}})"));
  ASSERT_TRUE(found[0].open);
  EXPECT_EQ(found[0].open->front(), address(10, 2, 0, 1));
  EXPECT_EQ(to_json(found[0])["open"], json::parse(R"(["10.2.0.1"])"));
  found = changed(found, json::parse(R"({"ab": {"open": null}})"));
  EXPECT_FALSE(found[0].open);
}

TEST(Settings, WhatIsSaidCanBeSetAgain) {
  const auto some = changed({}, json::parse(R"({"ab": {"delay": 0.1, "jitter": 0.001, "rate": 1e6,
      "queue": 5, "loss": 0.1, "duplicate": 0.2, "corrupt": 9, "reorder": true, "up": false, "overhead": 1, "open": []}})"));
  EXPECT_EQ(changed({}, {{"ab", to_json(some[0])}})[0], some[0]);
}

TEST(Settings, WrongOnesAreRefusedWithAReason) {
  for (const char* text :
       {R"([])", R"({"up": true})", R"({"ab": 3})", R"({"ab": {"delay": -1}})",
        R"({"ab": {"delay": "1"}})", R"({"ab": {"delay": 100}})", R"({"ab": {"loss": 1.5}})",
        R"({"ab": {"rate": null}})", R"({"ab": {"up": 1}})", R"({"ab": {"banana": 1}})",
        R"({"ab": {"open": ["x"]}})", R"({"ab": {"open": 3}})", R"({"ab": {"overhead": 1e9}})"}) {
    EXPECT_THROW(changed({}, json::parse(text)), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace isthmus::lab
