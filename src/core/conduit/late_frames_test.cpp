#include "core/conduit/late_frames.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

class LateFramesTest : public testing::Test {
 protected:
  LateFramesTest() { late.set_round_trip(20ms); }
  void send(StreamId stream, Time now) {
    sent.add(packet_for(100), stream, now);
    late.sent(100, now);
  }
  void acknowledge(std::uint64_t number, Time now) {
    late.begin_ack();
    sent.acknowledge(number, number, [&](auto n, const auto&, const SentFrames::Slot& slot) {
      late.acknowledged(n, slot, now);
    });
    late.end_ack();
  }

  SentFrames sent;
  LateFrames late;
};

TEST_F(LateFramesTest, AFrameGoesAgainOverAnotherStreamOnceALaterOneHasArrived) {
  send(1, 0ms);
  send(2, 1ms);
  EXPECT_EQ(late.look_at(), 42ms);
  acknowledge(2, 21ms);
  late.look(sent, 70ms, 4, false);
  EXPECT_EQ(late.next(1, true, sent, 70ms), 0U);  // its own stream
  ASSERT_EQ(late.next(3, true, sent, 70ms), 1U);
  EXPECT_TRUE(late.avoids(1, 4, 70ms));
  EXPECT_FALSE(late.avoids(1, 2, 70ms));  // half of all streams
  EXPECT_EQ(late.resend(1, 3, sent, 70ms).stream, 3U);
  EXPECT_TRUE(late.empty());
  acknowledge(1, 91ms);
  late.look(sent, 200ms, 4, false);
  EXPECT_TRUE(late.empty());
}

TEST_F(LateFramesTest, AStreamThatEndsLosesItsFramesInstead) {
  send(1, 0ms);
  late.look(sent, 50ms, 2, false);
  ASSERT_EQ(late.next(2, true, sent, 50ms), 1U);
  sent.lose(1);
  late.stream_down(1, sent);
  EXPECT_TRUE(late.empty());
  EXPECT_FALSE(late.avoids(1, 4, 50ms));
}

TEST_F(LateFramesTest, NeedsTwoStreamsAndMayBeDisabled) {
  send(1, 0ms);
  late.look(sent, 50ms, 1, false);
  EXPECT_TRUE(late.empty());
  late.disable();
  send(1, 60ms);
  EXPECT_EQ(late.look_at(), Time::max());
}

TEST(Late, IsTwoRoundTripsOrWhatFramesTake) {
  Late late;
  EXPECT_FALSE(late.possible());
  late.set_round_trip(1ms);
  EXPECT_FALSE(late.possible());
  late.set_round_trip(20ms);
  EXPECT_TRUE(late.possible());
  EXPECT_EQ(late.after(), 42ms);
  for (int i = 0; i < 100; ++i) {
    late.begin_ack();
    late.acked_after(100ms);
    late.end_ack();
  }
  EXPECT_NEAR(static_cast<double>(late.after().count()), 100e6, 1e6);
  for (int i = 0; i < 100; ++i) {
    late.begin_ack();
    late.acked_after(10s);
    late.end_ack();
  }
  EXPECT_EQ(late.after(), 1s);
}

}  // namespace
}  // namespace isthmus::core
