#include "core/streams/bursts.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

constexpr int kMost = 48;

Bursts standing() {
  Bursts bursts;
  bursts.begin(1s, 10ms, kMost);
  return bursts;
}

TEST(Bursts, NothingStandsByForWhatNeverPauses) {
  Bursts bursts = standing();
  for (auto now = 1s + 0ms; now < 2s; now += 40ms) bursts.moved(now, 64 * 1024);
  EXPECT_EQ(bursts.streams(2s), 1);
}

TEST(Bursts, AsManyAsSendAtOnceWhatFollowsAPause) {
  Bursts bursts = standing();
  bursts.moved(1s, 3 * kInitialWindow);
  EXPECT_EQ(bursts.streams(1s), 1);
  bursts.moved(1s + 201ms, 3 * kInitialWindow);
  EXPECT_EQ(bursts.streams(1s + 201ms), 4);
  bursts.moved(1s + 202ms, 1);
  EXPECT_EQ(bursts.streams(1s + 202ms), 5);
}

TEST(Bursts, ABurstMayComeInPartsWhileWindowsGrow) {
  Bursts bursts = standing();
  bursts.moved(1s, 1);
  for (const auto later : {0ms, 11ms, 22ms}) {
    bursts.moved(2s + later, kInitialWindow << (later / 11ms));
  }
  EXPECT_EQ(bursts.streams(1s), 5);
  bursts.moved(2s + 81ms, 8 * kInitialWindow);
  EXPECT_EQ(bursts.streams(1s), 5);
}

TEST(Bursts, AFlowNeedsNoPause) {
  Bursts bursts = standing();
  bursts.moved(1s, kMost / 2 * kInitialWindow - 1);
  EXPECT_EQ(bursts.streams(1s), 1);
  bursts.moved(1s + 9ms, 1);
  EXPECT_EQ(bursts.streams(1s), kMost / 2 + 1);
  bursts.moved(1s + 10ms, std::size_t{1} << 30);
  EXPECT_EQ(bursts.streams(1s), kMost);
}

TEST(Bursts, ASecondStreamStandsByForWhatIsLost) {
  Bursts bursts;
  EXPECT_EQ(bursts.streams(10s), 1);
  bursts = standing();
  EXPECT_EQ(bursts.streams(2s), 1);
  EXPECT_EQ(bursts.streams(2s + 1ms), 2);
}

}  // namespace
}  // namespace isthmus::core
