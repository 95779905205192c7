#include "net/control_body.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/frame.hpp"

namespace isthmus::net {
namespace {

std::optional<ControlBody> decode(const std::string& text) {
  return decode_control(std::as_bytes(std::span(text)));
}

std::vector<ControlBody> one_of_each() {
  using What = ControlBody::What;
  return {{.what = What::Joined, .node = 7},
          {.what = What::Abort, .rank = 3, .code = -9, .message = "rank 3 called MPI_Abort"},
          {.what = What::Fault, .code = 4, .message = "broken \"quite\""},
          {.what = What::Link,
           .rate = 125'000'000,
           .streams = 4,
           .patience = std::chrono::minutes(10),
           .congestion = "bbr"},
          {.what = What::Silent, .cluster = 3, .ask = true},
          {.what = What::Heard, .cluster = 1},
          {.what = What::Other, .cluster = 5},
          {.what = What::Where},
          {.what = What::Where, .traces = true},
          {.what = What::Here, .message = "{\"rank\": 3}"},
          {.what = What::Joined, .node = 8, .part = 3},
          {.what = What::Grown, .message = "{\"index\":2}"},
          {.what = What::Ask, .message = "{\"do\":\"open\"}", .number = ~0ULL},
          {.what = What::Answer, .message = "{\"port\":\"p\"}", .number = 7},
          {.what = What::Lost, .message = "it fell silent", .cluster = 2},
          {.what = What::Count},
          {.what = What::Crossed, .cluster = 1, .crossed = {1, 2, ~0ULL, 4, 5, 6, 7}}};
}

TEST(ControlBody, SaysWhatItSaid) {
  for (const ControlBody& body : one_of_each()) {
    const auto read = decode_control(encode_control(body));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->what, body.what);
    EXPECT_EQ(read->node, body.node);
    EXPECT_EQ(read->part, body.part);
    EXPECT_EQ(read->rank, body.rank);
    EXPECT_EQ(read->code, body.code);
    EXPECT_EQ(read->message, body.message);
    EXPECT_EQ(read->rate, body.rate);
    EXPECT_EQ(read->streams, body.streams);
    EXPECT_EQ(read->cluster, body.cluster);
    EXPECT_EQ(read->patience, body.patience);
    EXPECT_EQ(read->congestion, body.congestion);
    EXPECT_EQ(read->ask, body.ask);
    EXPECT_EQ(read->number, body.number);
    EXPECT_EQ(read->crossed.conduits, body.crossed.conduits);
    EXPECT_EQ(read->crossed.messages, body.crossed.messages);
    EXPECT_EQ(read->crossed.bytes, body.crossed.bytes);
    EXPECT_EQ(read->crossed.wire_bytes, body.crossed.wire_bytes);
    EXPECT_EQ(read->crossed.ucx, body.crossed.ucx);
    EXPECT_EQ(read->crossed.streams, body.crossed.streams);
    EXPECT_EQ(read->crossed.repeated, body.crossed.repeated);
  }
}

TEST(ControlBody, TheLongestQuestionFitsAFrame) {
  const ControlBody body{.what = ControlBody::What::Ask, .message = std::string(kMostAsked, '"')};
  const auto bytes = encode_control(body);
  EXPECT_LE(bytes.size(), core::kMaxBody);
  EXPECT_EQ(decode_control(bytes)->message, body.message);
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
