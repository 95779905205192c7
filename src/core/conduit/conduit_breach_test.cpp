// Breaches of the protocol by a peer, and the answers to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/conduit/conduit_peer.hpp"

namespace isthmus::core {
namespace {

class Breach : public testing::Test {
 protected:
  Conduit conduit{config(kA, kB), Time::zero()};
  StreamId stream = conduit.stream_up(Time::zero());

  Conduit::Input give(const std::vector<std::byte>& bytes) {
    return conduit.input(stream, bytes, Time::zero(), [](const auto&, auto) { return true; });
  }
  void expect_broken(const std::vector<std::byte>& bytes, const std::string& reason) {
    const auto result = give(bytes);
    EXPECT_EQ(result.outcome, Conduit::Outcome::Broken);
    EXPECT_THAT(result.reason, testing::HasSubstr(reason));
    EXPECT_EQ(conduit.dead(), result.reason);
  }
  void greet() {
    ASSERT_EQ(give(packet(FrameKind::Hello, 0, encode_hello(hello()))).outcome,
              Conduit::Outcome::Good);
  }
};

// Each of two ends gives up a stream that is silent, even if it hears others.
TEST_F(Breach, APingIsAnsweredOnItsOwnStream) {
  greet();
  const StreamId other = conduit.stream_up(Time::zero());
  std::vector<PacketPtr> out;
  conduit.output(other, Time::zero(), kMaxBody, out);  // Hello
  conduit.output(stream, Time::zero(), kMaxBody, out);
  give(packet(FrameKind::Ping, 0, {}));
  out.clear();
  conduit.output(other, Time::zero(), kMaxBody, out);
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(conduit.has_output(stream));
  conduit.output(stream, Time::zero(), kMaxBody, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]->kind, FrameKind::Ack);
  EXPECT_FALSE(conduit.has_output(stream));
}

TEST_F(Breach, AWidePingIsAnsweredByOneAsWide) {
  greet();
  std::vector<PacketPtr> out;
  conduit.output(stream, Time::zero(), kMaxBody, out);
  out.clear();
  std::vector<std::byte> wide(3000);
  wide.front() = kWideQuestion;
  give(packet(FrameKind::Ping, 0, wide));
  EXPECT_TRUE(conduit.has_output(stream));
  conduit.output(stream, Time::zero(), kMaxBody, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]->size, kHeaderSize + wide.size());
  EXPECT_FALSE(conduit.has_output());
  EXPECT_FALSE(conduit.probed(stream)) << "only the peer's is";
}

TEST_F(Breach, AProbeWaitsForHelloAndGoesFirst) {
  conduit.probe(stream, 3000);
  std::vector<PacketPtr> out;
  conduit.output(stream, Time::zero(), kMaxBody, out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0]->kind, FrameKind::Hello);
  EXPECT_FALSE(conduit.has_output());
  greet();
  out.clear();
  conduit.submit({});
  conduit.output(stream, Time::zero(), kMaxBody, out);
  std::vector<FrameKind> kinds;
  for (const auto& packet : out) kinds.push_back(packet->kind);
  EXPECT_THAT(kinds, testing::ElementsAre(FrameKind::Ack, FrameKind::Ping, OutFrame{}.kind));
  std::vector<std::byte> answer(out[1]->size - kHeaderSize);
  answer.front() = kWideAnswer;
  give(packet(FrameKind::Ping, 0, answer));
  EXPECT_TRUE(conduit.probed(stream));
}

TEST_F(Breach, AnotherVersion) {
  Hello h = hello();
  h.version = kProtocolVersion + 1;
  expect_broken(packet(FrameKind::Hello, 0, encode_hello(h)),
                "speaks version " + std::to_string(kProtocolVersion + 1) + " of the protocol");
  EXPECT_THAT(conduit.dead(), testing::HasSubstr("9.9.9"));
  EXPECT_THAT(conduit.dead(), testing::HasSubstr("0.test"));
}
TEST_F(Breach, NoHello) {
  expect_broken(packet(FrameKind::Piece, 1, {}), "did not say Hello first");
}
TEST_F(Breach, HelloTwice) {
  greet();
  expect_broken(packet(FrameKind::Hello, 0, encode_hello(hello())), "twice");
}
TEST_F(Breach, AnotherNode) {
  expect_broken(packet(FrameKind::Hello, 0, encode_hello(hello()), kB + 1), "another node");
}
TEST_F(Breach, AnotherSession) {
  greet();
  stream = conduit.stream_up(Time::zero());
  Hello h = hello();
  h.session = 8;
  expect_broken(packet(FrameKind::Hello, 0, encode_hello(h)), "started anew");
}
TEST_F(Breach, AckOfTheUnsent) {
  greet();
  expect_broken(packet(FrameKind::Ack, 0, encode_ack({5, 0, {}})), "never sent");
}
TEST_F(Breach, AckOfTheUnsentBeyondAGap) {
  greet();
  expect_broken(packet(FrameKind::Ack, 0, encode_ack({0, 0, {{2, ~std::uint64_t{0}}}})),
                "never sent");
}
TEST_F(Breach, ConsumedTheUnsent) {
  greet();
  expect_broken(packet(FrameKind::Ack, 0, encode_ack({0, 1, {}})), "more than was sent");
}
TEST_F(Breach, MoreThanTheWindow) {
  ConduitConfig c = config(kA, kB);
  c.window = kMaxBody + kHeaderSize;
  conduit = Conduit(c, Time::zero());
  stream = conduit.stream_up(Time::zero());
  greet();
  Conduit::Input last;
  for (std::uint64_t i = 1; i <= 2 && last.outcome == Conduit::Outcome::Good; ++i) {
    last = conduit.input(stream, packet(FrameKind::Piece, i, std::vector<std::byte>(kMaxBody)),
                         Time::zero(), [](const auto&, auto) { return false; });
  }
  EXPECT_EQ(last.outcome, Conduit::Outcome::Broken);
  EXPECT_THAT(last.reason, testing::HasSubstr("window"));
}
TEST_F(Breach, RefusalSaysWhy) {
  const std::string_view text = "go\naway";
  std::vector<std::byte> body(text.size());
  std::memcpy(body.data(), text.data(), text.size());
  const auto result = give(packet(FrameKind::Refuse, 0, body));
  EXPECT_EQ(result.outcome, Conduit::Outcome::Refused);
  EXPECT_EQ(result.reason, "go away");
}

}  // namespace
}  // namespace isthmus::core
