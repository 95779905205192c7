#include "lab/channel.hpp"

#include <gtest/gtest.h>

#include "lab/testing.hpp"

namespace isthmus::lab {
namespace {

class ChannelTest : public testing::Test {
 protected:
  // Everything that comes out up to `now`, by the exact time at which it was due.
  std::vector<Channel::Due> drain(Channel& channel, Nanos now) {
    std::vector<Channel::Due> all;
    while (auto due = channel.take_due(now)) all.push_back(std::move(*due));
    return all;
  }
  static std::uint32_t segments(const std::vector<Channel::Due>& all) {
    std::uint32_t sum = 0;
    for (const auto& due : all) sum += due.packet.segments;
    return sum;
  }
  static std::uint32_t sequence(const Channel::Due& due) {
    return read32(due.packet.frame(), kVirtio + 24);
  }

  BufferPool pool_{64 << 20};
  const Frame kilobyte_ = tcp_frame(1000 - 52 - 38);           // takes 1000 bytes on the wire
  const Frame super_ = tcp_frame(10 * 910, {.segment = 910});  // ten of those
};

TEST_F(ChannelTest, DelayAlone) {
  Channel channel(pool_, {.delay = 5 * kMillisecond}, 1);
  EXPECT_FALSE(channel.deadline());
  channel.accept(kilobyte_, 100);
  EXPECT_EQ(channel.deadline(), 100 + 5 * kMillisecond);
  EXPECT_FALSE(channel.take_due(99 + 5 * kMillisecond));
  const auto due = channel.take_due(kSecond);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->release, 100 + 5 * kMillisecond);
  EXPECT_TRUE(std::equal(kilobyte_.begin(), kilobyte_.end(), due->packet.frame().begin()));
  EXPECT_FALSE(channel.take_due(kSecond));
}

TEST_F(ChannelTest, RateAndDelayAddUp) {
  Channel channel(pool_, {.delay = kMillisecond, .rate = 8e6}, 1);  // a byte a microsecond
  for (int i = 0; i < 3; ++i) channel.accept(kilobyte_, 0);
  const auto all = drain(channel, kSecond);
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].release, static_cast<Nanos>(i + 2) * kMillisecond);
  }
}

TEST_F(ChannelTest, TimesDoNotDependOnHowOftenItIsDriven) {
  const ChannelSettings settings{.delay = kMillisecond, .jitter = kMicrosecond, .rate = 1e8};
  Channel often(pool_, settings, 1), rarely(pool_, settings, 1);
  std::vector<Nanos> one, other;
  for (Nanos now = 0; now < 20 * kMillisecond; now += 10 * kMicrosecond) {
    if (now < 10 * kMillisecond && now % (50 * kMicrosecond) == 0) {
      often.accept(kilobyte_, now);
      rarely.accept(kilobyte_, now);
    }
    for (const auto& due : drain(often, now)) one.push_back(due.release);
  }
  for (const auto& due : drain(rarely, kSecond)) other.push_back(due.release);
  EXPECT_EQ(one.size(), 200U);
  EXPECT_EQ(one, other);
}

TEST_F(ChannelTest, AnySecondCarriesTheRate) {
  Channel channel(pool_, {.delay = kMillisecond, .rate = 1e8, .queue = 50'000}, 1);
  for (Nanos now = 0; now < kSecond; now += 20 * kMicrosecond) {  // offers four times the rate
    channel.accept(kilobyte_, now);
    drain(channel, now);
  }
  EXPECT_NEAR(static_cast<double>(channel.counters().bytes) * 8, 1e8, 1e8 * 0.001);
  EXPECT_LE(channel.counters().queue_most, 50'000U);
  EXPECT_GE(channel.counters().queue_most, 49'000U);
  EXPECT_EQ(channel.counters().packets, 50'000U);
}

TEST_F(ChannelTest, TheTailIsDroppedByBytes) {
  Channel channel(pool_, {.rate = 8e6, .queue = 3500}, 1);
  for (int i = 0; i < 5; ++i) channel.accept(kilobyte_, 0);
  EXPECT_EQ(channel.counters().dropped_queue, 2U);
  EXPECT_EQ(channel.backlog(0), 3000U);
  EXPECT_EQ(channel.backlog(500 * kMicrosecond), 2500U);
  channel.accept(kilobyte_, 500 * kMicrosecond);  // fits again
  EXPECT_EQ(channel.counters().dropped_queue, 2U);
  EXPECT_EQ(drain(channel, kSecond).size(), 4U);
}

TEST_F(ChannelTest, ASuperPacketIsDroppedByTheSegment) {
  Channel channel(pool_, {.rate = 8e6, .queue = 3500}, 1);
  channel.accept(super_, 0);
  EXPECT_EQ(channel.counters().dropped_queue, 7U);
  const auto all = drain(channel, kSecond);
  EXPECT_EQ(segments(all), 3U);
  EXPECT_EQ(all.back().release, 3 * kMillisecond);
}

TEST_F(ChannelTest, AnIdleLineTakesOneThatIsLargerThanTheQueue) {
  Channel channel(pool_, {.rate = 8e6, .queue = 10}, 1);
  channel.accept(kilobyte_, 0);
  channel.accept(super_, 2 * kMillisecond);
  EXPECT_EQ(channel.counters().dropped_queue, 9U);
  EXPECT_EQ(segments(drain(channel, kSecond)), 2U);
}

TEST_F(ChannelTest, LossTakesSingleSegmentsOutOfSuperPackets) {
  Channel channel(pool_, {.loss = 0.05}, 3);
  std::uint32_t delivered = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Frame frame = tcp_frame(10 * 910, {.sequence = i * 9100, .segment = 910});
    channel.accept(frame, i);
    for (const auto& due : drain(channel, i)) {
      delivered += due.packet.segments;
      EXPECT_GE(sequence(due), i * 9100);
      EXPECT_EQ((sequence(due) - i * 9100) % 910, 0U);
    }
  }
  EXPECT_EQ(delivered + channel.counters().dropped_loss, 10'000U);
  EXPECT_NEAR(static_cast<double>(channel.counters().dropped_loss), 500, 100);
  EXPECT_EQ(channel.counters().delivered, delivered);
}

TEST_F(ChannelTest, DuplicatesAreFramesThatComeTwice) {
  Channel channel(pool_, {.duplicate = 0.1}, 3);
  std::vector<std::uint32_t> twice;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    channel.accept(tcp_frame(100, {.sequence = i}), i);
    const auto all = drain(channel, i);
    for (const auto& due : all) EXPECT_EQ(sequence(due), i);
    if (all.size() == 2) twice.push_back(i);
  }
  EXPECT_EQ(twice.size(), channel.counters().duplicated);
  EXPECT_NEAR(static_cast<double>(twice.size()), 100, 30);
  EXPECT_EQ(pool_.in_use(), 0U);
}

TEST_F(ChannelTest, AByteIsWrongAsOftenAsWanted) {
  Channel channel(pool_, {.corrupt = 100'000}, 3);
  int wrong = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    channel.accept(super_, i);
    for (const auto& due : drain(channel, i)) {
      const auto got = due.packet.frame();
      const auto first = std::mismatch(super_.begin(), super_.end(), got.begin());
      if (first.first == super_.end()) continue;
      ++wrong;
      EXPECT_EQ(first.second, got.end() - 1) << "the last byte of the payload";
    }
  }
  EXPECT_EQ(channel.counters().corrupted, static_cast<std::uint64_t>(wrong));
  EXPECT_NEAR(wrong, 91, 9);
}

TEST_F(ChannelTest, FramesWithoutAPayloadOfTcpStayRight) {
  Channel channel(pool_, {.corrupt = 1}, 3);
  Frame done = tcp_frame(100);
  done[0] = std::byte{0};  // its checksum is complete
  for (const Frame& frame : {tcp_frame(0), done, ip_frame(17, 1, Frame(50)), Frame(kVirtio + 5)}) {
    channel.accept(frame, 0);
    const auto due = channel.take_due(0);
    ASSERT_TRUE(due);
    EXPECT_TRUE(std::equal(frame.begin(), frame.end(), due->packet.frame().begin()));
  }
  EXPECT_EQ(channel.counters().corrupted, 0U);
}

TEST_F(ChannelTest, JitterKeepsOrderUnlessAsked) {
  for (const bool reorder : {false, true}) {
    Channel channel(pool_, {.delay = kMillisecond, .jitter = kMillisecond, .reorder = reorder}, 1);
    for (std::uint32_t i = 0; i < 200; ++i) {
      channel.accept(tcp_frame(10, {.sequence = i}), i * kMicrosecond);
    }
    const auto all = drain(channel, kSecond);
    ASSERT_EQ(all.size(), 200U);
    bool ordered = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ordered = ordered && sequence(all[i]) == i;
      EXPECT_GE(all[i].release, sequence(all[i]) * kMicrosecond + kMillisecond);
      EXPECT_LE(all[i].release, 200 * kMicrosecond + 2 * kMillisecond);
    }
    EXPECT_EQ(ordered, !reorder);
  }
}

TEST_F(ChannelTest, ACutLosesAllThatIsUnderWay) {
  ChannelSettings settings{.delay = 10 * kMillisecond, .rate = 8e6};
  Channel channel(pool_, settings, 1);
  for (int i = 0; i < 5; ++i) channel.accept(kilobyte_, 0);
  settings.up = false;
  channel.change(settings, 1500 * kMicrosecond);
  EXPECT_EQ(channel.counters().dropped_cut, 5U);
  EXPECT_FALSE(channel.deadline());
  EXPECT_EQ(pool_.in_use(), 0U);
  channel.accept(super_, 2 * kMillisecond);
  EXPECT_EQ(channel.counters().dropped_cut, 15U);
  settings.up = true;
  channel.change(settings, 3 * kMillisecond);
  channel.accept(kilobyte_, 3 * kMillisecond);
  EXPECT_EQ(channel.deadline(), 14 * kMillisecond);
}

TEST_F(ChannelTest, AChangeOfRateHoldsFromNowOn) {
  ChannelSettings settings{.rate = 8e6};
  Channel channel(pool_, settings, 1);
  for (int i = 0; i < 4; ++i) channel.accept(kilobyte_, 0);
  settings.rate = 8e7;
  channel.change(settings, 1500 * kMicrosecond);  // the second is being sent
  const auto all = drain(channel, kSecond);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].release, 2000 * kMicrosecond);
  EXPECT_EQ(all[2].release, 2100 * kMicrosecond);
  EXPECT_EQ(all[3].release, 2200 * kMicrosecond);
}

TEST_F(ChannelTest, AShorterDelayDoesNotReorder) {
  ChannelSettings settings{.delay = 10 * kMillisecond};
  Channel channel(pool_, settings, 1);
  channel.accept(tcp_frame(10, {.sequence = 1}), 0);
  settings.delay = kMillisecond;
  channel.change(settings, kMillisecond);
  channel.accept(tcp_frame(10, {.sequence = 2}), kMillisecond);
  const auto all = drain(channel, kSecond);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(sequence(all[0]), 1U);
  EXPECT_EQ(all[1].release, 10 * kMillisecond);
}

TEST_F(ChannelTest, AFirewallCountsWhatItKeepsOut) {
  Channel channel(pool_, {.open = {std::vector<std::uint32_t>{}}}, 1);
  channel.accept(tcp_frame(0, {.flags = 2}), 0);
  channel.accept(super_, 0);
  EXPECT_EQ(channel.counters().dropped_firewall, 1U);
  EXPECT_EQ(segments(drain(channel, 0)), 10U);
}

TEST_F(ChannelTest, MemoryIsBounded) {
  BufferPool pool(10 * 2048);
  Channel channel(pool, {.delay = kSecond}, 1);
  for (int i = 0; i < 15; ++i) channel.accept(kilobyte_, i);
  EXPECT_EQ(channel.counters().dropped_memory, 5U);
  EXPECT_EQ(drain(channel, 2 * kSecond).size(), 10U);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(ChannelTest, ABufferIsMovedWhereTheFramePassesWhole) {
  Channel channel(pool_, {.rate = 8e9, .queue = 1 << 20}, 1);
  auto buffer = pool_.get(kMaxFrame);
  std::byte* const where = buffer.get();
  std::memcpy(where, super_.data(), super_.size());
  channel.accept(std::move(buffer), static_cast<std::uint32_t>(super_.size()), 0);
  const auto due = channel.take_due(kSecond);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->packet.data.get(), where);
}

}  // namespace
}  // namespace isthmus::lab
