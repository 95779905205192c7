#include "core/conduit/received_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;
using Taken = ReceivedFrames::Taken;

constexpr Time kDelay = 1ms;

Taken take(ReceivedFrames& frames, std::uint64_t number, Time now = {}, bool routed = true) {
  return frames.take(number, 100, routed, now, kDelay);
}

TEST(ReceivedFrames, EachIsNewOnceInAnyOrder) {
  std::vector<std::uint64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
  ReceivedFrames frames(1U << 20);
  for (const std::uint64_t number : numbers) {
    EXPECT_FALSE(frames.has(number));
    EXPECT_EQ(take(frames, number), Taken::New);
    EXPECT_EQ(take(frames, number), Taken::Before);
  }
  EXPECT_EQ(frames.received(), 1000U);
}

TEST(ReceivedFrames, ReportsWhatIsBeyondAGap) {
  ReceivedFrames frames(1U << 20);
  for (const int number : {1, 3, 4, 6}) take(frames, static_cast<std::uint64_t>(number));
  const Ack ack = frames.report({});
  EXPECT_EQ(ack.received, 1U);
  EXPECT_THAT(ack.beyond, ElementsAre(Pair(3, 4), Pair(6, 6)));
  take(frames, 2);
  EXPECT_EQ(frames.report({}).received, 4U);
}

TEST(ReceivedFrames, RefusesMoreThanTheWindow) {
  ReceivedFrames frames(250);
  EXPECT_EQ(take(frames, 1), Taken::New);
  EXPECT_EQ(take(frames, 2), Taken::New);
  frames.consume(100, {}, kDelay);
  EXPECT_EQ(take(frames, 3), Taken::New);
  EXPECT_EQ(take(frames, 4), Taken::NoWindow);
}

TEST(ReceivedFrames, APeerWhoseWindowIsFullHearsAtOnceOfRoom) {
  ReceivedFrames frames(400);
  for (std::uint64_t number = 1; number <= 4; ++number) take(frames, number);
  frames.report({});
  frames.consume(99, {}, kDelay);
  EXPECT_FALSE(frames.due());
  frames.consume(1, {}, kDelay);
  EXPECT_TRUE(frames.due());
  EXPECT_EQ(frames.report({}).consumed, 100U);
  EXPECT_FALSE(frames.due());
}

TEST(ReceivedFrames, DataTakesAlongWhatIsForManyFramesOrSoonDue) {
  ReceivedFrames frames(1U << 20);
  frames.report(0ms);
  take(frames, 1, 100us);
  EXPECT_TRUE(frames.pending());
  EXPECT_EQ(frames.due_at(), 1100us);
  EXPECT_FALSE(frames.rides(100us, kDelay));
  EXPECT_TRUE(frames.rides(1ms, kDelay));
  for (std::uint64_t number = 2; number <= 16; ++number) take(frames, number, 100us);
  EXPECT_TRUE(frames.rides(100us, kDelay));
  frames.report(100us);
  EXPECT_FALSE(frames.pending());
}

TEST(ReceivedFrames, InCustodyAFrameIsAcknowledgedOnceItIsSettled) {
  ReceivedFrames frames(1U << 20);
  frames.keep_custody();
  for (std::uint64_t number = 1; number <= 4; ++number) take(frames, number, {}, number != 3);
  Ack ack = frames.report({});
  EXPECT_EQ(ack.received, 0U);
  EXPECT_THAT(ack.beyond, ElementsAre(Pair(3, 3)));
  EXPECT_THAT(frames.report({}).beyond, ElementsAre());  // each once
  frames.report_anew();
  frames.settle(2, {}, kDelay);
  EXPECT_THAT(frames.report({}).beyond, ElementsAre(Pair(2, 3)));
  frames.settle(1, {}, kDelay);
  ack = frames.report({});
  EXPECT_EQ(ack.received, 3U);
  EXPECT_EQ(frames.acknowledged(), 3U);
}

}  // namespace
}  // namespace isthmus::core
