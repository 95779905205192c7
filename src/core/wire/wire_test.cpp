#include "core/wire/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace isthmus::core {
namespace {

using State = Decoded::State;

std::vector<std::byte> encoded(FrameHeader header) {
  std::vector<std::byte> bytes(kHeaderSize + std::min<std::size_t>(header.body_size, kMaxBody));
  encode_header(header, bytes.data());
  return bytes;
}

FrameHeader piece() {
  return {.body_size = 10,
          .kind = FrameKind::Piece,
          .hops = 3,
          .source = 0x01020304,
          .destination = kFirstGateway + 5,
          .sequence = 0x1122334455667788};
}

TEST(Wire, HeaderIsLittleEndianAsDocumented) {
  const auto bytes = encoded(piece());
  const unsigned char expected[kHeaderSize] = {10,   0,    0,    0,    17,   0,    3,    0,
                                               4,    3,    2,    1,    5,    0,    0,    0x80,
                                               0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  EXPECT_EQ(std::memcmp(bytes.data(), expected, kHeaderSize), 0);
}

TEST(Wire, DecodesWhatItEncoded) {
  const auto bytes = encoded(piece());
  const Decoded d = decode(bytes);
  ASSERT_EQ(d.state, State::Frame);
  EXPECT_EQ(d.size, bytes.size());
  EXPECT_EQ(d.header.kind, FrameKind::Piece);
  EXPECT_EQ(d.header.hops, 3);
  EXPECT_EQ(d.header.source, 0x01020304U);
  EXPECT_EQ(d.header.destination, kFirstGateway + 5);
  EXPECT_EQ(d.header.sequence, 0x1122334455667788U);
  EXPECT_EQ(d.body.size(), 10U);
}

TEST(Wire, EveryPrefixIsIncompleteAndSaysHowMuchIsNeeded) {
  const auto bytes = encoded(piece());
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const Decoded d = decode(std::span(bytes).first(n));
    ASSERT_EQ(d.state, State::Incomplete) << n;
    EXPECT_EQ(d.size, n < kHeaderSize ? kHeaderSize : bytes.size());
  }
}

TEST(Wire, RefusesWhatNoFrameMayHave) {
  auto h = piece();
  h.body_size = kMaxBody + 1;
  EXPECT_THAT(decode(encoded(h)).reason, testing::HasSubstr("more than the"));
  h.body_size = 0xFFFFFFFF;
  EXPECT_EQ(decode(encoded(h)).state, State::Malformed);
  h = piece();
  h.kind = static_cast<FrameKind>(99);
  EXPECT_THAT(decode(encoded(h)).reason, testing::HasSubstr("unknown kind 99"));
  h = piece();
  h.flags = kReturned | kRepeated;
  EXPECT_THAT(decode(encoded(h)).reason, testing::HasSubstr("flags"));
  h.flags = kRepeated;
  EXPECT_EQ(decode(encoded(h)).header.flags, kRepeated);
  h.kind = FrameKind::Control;
  EXPECT_THAT(decode(encoded(h)).reason, testing::HasSubstr("flags"));
  h = piece();
  h.sequence = 0;
  EXPECT_THAT(decode(encoded(h)).reason, testing::HasSubstr("sequence number 0"));
  h.kind = FrameKind::Ack;
  h.sequence = 1;
  EXPECT_EQ(decode(encoded(h)).state, State::Malformed);
}

TEST(Wire, HelloRoundTrip) {
  Hello h;
  h.stream = 3;
  h.session = 11;
  h.peer_session = 12;
  h.received = 13;
  h.window = 14;
  h.software = "1.2.3";
  std::string reason;
  const auto body = encode_hello(h);
  const auto back = decode_hello(body, reason);
  ASSERT_TRUE(back) << reason;
  EXPECT_EQ(back->stream, 3U);
  EXPECT_EQ(back->session, 11U);
  EXPECT_EQ(back->peer_session, 12U);
  EXPECT_EQ(back->received, 13U);
  EXPECT_EQ(back->window, 14U);
  EXPECT_EQ(back->software, "1.2.3");
  for (std::size_t n = 0; n < body.size(); ++n) {
    EXPECT_FALSE(decode_hello(std::span(body).first(n), reason)) << n;
    EXPECT_FALSE(reason.empty());
  }
}

TEST(Wire, AHelloOfAnotherVersionStillNamesItself) {
  Hello h;
  h.version = 9;
  h.software = "9\n";
  auto body = encode_hello(h);
  body.erase(body.end() - 20, body.end());  // later bytes are not ours to know
  std::string reason;
  const auto back = decode_hello(body, reason);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->version, 9);
  EXPECT_EQ(back->software, "9?");
}

TEST(Wire, AckRoundTrip) {
  const Ack ack{5, 600, {{7, 7}, {9, 12}}};
  const auto body = encode_ack(ack);
  const auto back = decode_ack(body);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->received, 5U);
  EXPECT_EQ(back->consumed, 600U);
  EXPECT_EQ(back->beyond, ack.beyond);
  for (std::size_t n = 0; n < body.size(); ++n) {
    EXPECT_FALSE(decode_ack(std::span(body).first(n))) << n;
  }
}

TEST(Wire, AckRangesAscend) {
  EXPECT_FALSE(decode_ack(encode_ack({5, 0, {{4, 6}}})));
  EXPECT_FALSE(decode_ack(encode_ack({5, 0, {{8, 7}}})));
  EXPECT_FALSE(decode_ack(encode_ack({5, 0, {{7, 9}, {9, 10}}})));
}

TEST(Wire, AckIsCutToWhatABodyMayHold) {
  Ack ack;
  for (std::uint64_t i = 1; i <= 1000; ++i) ack.beyond.emplace_back(2 * i, 2 * i);
  const auto back = decode_ack(encode_ack(ack));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->beyond.size(), kMaxAckRanges);
}

TEST(Wire, RandomBytesAreNeverReadBeyondTheirEnd) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::vector<std::byte> bytes(random() % 64);
    for (auto& b : bytes) b = static_cast<std::byte>(random() % (i % 2 == 0 ? 256 : 20));
    const Decoded d = decode(bytes);
    if (d.state == State::Frame) {
      ASSERT_LE(d.size, bytes.size());
      ASSERT_EQ(d.body.size(), d.size - kHeaderSize);
    }
    std::string reason;
    (void)decode_hello(bytes, reason);
    (void)decode_ack(bytes);
  }
}

}  // namespace
}  // namespace isthmus::core
