#include "net/control/control_body.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/wire/frame.hpp"

namespace isthmus::net {
namespace {

std::optional<ControlBody> decode(const std::string& text) {
  return decode_control(std::as_bytes(std::span(text)));
}

std::vector<ControlBody> one_of_each() {
  using namespace control;
  return {Joined{7},
          Joined{8, 3},
          Joined{9, 0, "n1"},
          Abort{3, -9, "rank 3 called MPI_Abort"},
          Fault{4, "broken \"quite\""},
          Link{125'000'000, 4, std::chrono::minutes(10), "bbr", true},
          Lost{2, "it fell silent"},
          Lost{2, "it is cut off", 5},
          Without{3, 9},
          Silent{3, true},
          Heard{1},
          Other{5},
          Count{},
          Crossed{1, {1, 2, ~0ULL, 4, 5, 6, 7}},
          Where{},
          Where{true},
          Here{"{\"rank\": 3}"},
          Ask{~0ULL, "{\"do\":\"open\"}"},
          Answer{7, "{\"port\":\"p\"}"},
          Grown{"{\"index\":2}"},
          Parted{"isthmus-1", "it ended"},
          Failed{1, "cluster \"west\" has failed: its job has ended"},
          Spare{3, "south", true, "cluster \"south\": it has left"},
          Done{9},
          Agrees{9}};
}

TEST(ControlBody, SaysWhatItSaid) {
  for (const ControlBody& body : one_of_each())
    EXPECT_EQ(decode_control(encode_control(body)), body);
}

TEST(ControlBody, TheLongestQuestionFitsAFrame) {
  const ControlBody body = control::Ask{1, std::string(kMostAsked, '"')};
  const auto bytes = encode_control(body);
  EXPECT_LE(bytes.size(), core::kMaxBody);
  EXPECT_EQ(decode_control(bytes), body);
}

TEST(ControlBody, ASentenceOfAnyBytesFitsAFrame) {
  for (const char each : {'"', '\x01', '\xff'}) {
    const auto bytes = encode_control(control::Lost{0, std::string(100'000, each), -1});
    EXPECT_LE(bytes.size(), core::kMaxBody);
    EXPECT_TRUE(decode_control(bytes));
  }
}

// The cut of sentences is not for them: half of a JSON text says nothing.
TEST(ControlBody, AGrowthIsNotCut) {
  const ControlBody body = control::Grown{"{\"name\":\"" + std::string(5000, 'x') + "\"}"};
  EXPECT_EQ(decode_control(encode_control(body)), body);
}

TEST(ControlBody, WhatALaterReleaseMayLeaveOutIsZero) {
  EXPECT_EQ(decode(R"({"link":{"rate":1,"streams":2,"patience":3}})"),
            ControlBody(control::Link{1, 2, std::chrono::milliseconds(3)}));
  EXPECT_EQ(
      decode(R"({"crossed":{"cluster":1,"conduits":2,"messages":3,"bytes":4,"wire_bytes":5}})"),
      ControlBody(control::Crossed{1, {2, 3, 4, 5}}));
}

TEST(ControlBody, GarbageIsNone) {
  const std::string texts[] = {
      "",
      "{",
      "[]",
      "3",
      "{}",
      R"({"later":1})",
      R"({"joined":-1})",
      R"({"joined":4294967296})",
      R"({"joined":"7"})",
      R"({"abort":{"rank":1e300,"code":1,"message":""}})",
      R"({"abort":{"rank":1,"code":2147483648,"message":""}})",
      R"({"abort":{"rank":1,"code":1}})",
      R"({"fault":{"code":1,"message":["x"]}})",
      R"({"fault":[]})",
      R"({"link":{"rate":-1,"streams":1}})",
      R"({"link":{"rate":1,"streams":1.5}})",
      R"({"link":{"rate":1,"streams":1,"patience":-1}})",
      R"({"silent":{"cluster":1}})",
      R"({"silent":{"cluster":1,"ask":1}})",
      R"({"heard":{}})",
      R"({"other":{"cluster":-1}})",
      R"({"lost":{"cluster":"a","message":""}})",
      R"({"crossed":{"cluster":1,"conduits":1,"messages":1,"bytes":1}})",
      R"({"crossed":{"cluster":-1,"conduits":1,"messages":1,"bytes":1,"wire_bytes":1}})",
      R"({"crossed":7})",
      std::string(50'000, '['),
      R"({"link":)" + std::string(50'000, '{'),
  };
  for (const std::string& text : texts) EXPECT_FALSE(decode(text)) << text.substr(0, 80);
}

TEST(ControlBody, WhateverBytesComeItSurvives) {
  std::mt19937 random(1);
  for (const ControlBody& body : one_of_each()) {
    const auto good = encode_control(body);
    for (int i = 0; i < 5000; ++i) {
      auto bytes = good;
      for (int n = 0; n < 1 + i % 4; ++n) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      if (i % 5 == 0) bytes.resize(random() % bytes.size());
      (void)decode_control(bytes);
    }
  }
}

}  // namespace
}  // namespace isthmus::net
