#include "lab/shaper.hpp"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(Shaper, TakesAsLongAsTheBytesDo) {
  Shaper shaper;
  shaper.set_rate(1e9);
  EXPECT_EQ(shaper.transmit(0, 1250), 10 * kMicrosecond);
  EXPECT_EQ(shaper.transmit(0, 1250), 20 * kMicrosecond);
  EXPECT_EQ(shaper.transmit(50 * kMicrosecond, 125), 51 * kMicrosecond);
}

TEST(Shaper, ALongRunHasExactlyTheRate) {
  Shaper shaper;
  shaper.set_rate(3e8);  // 26.66... ns per byte
  for (int i = 0; i < 3'000'000; ++i) shaper.transmit(0, 1);
  EXPECT_NEAR(static_cast<double>(shaper.free_at()), 80e6, 1);
}

TEST(Shaper, WithoutARateNothingTakesTime) {
  Shaper shaper;
  EXPECT_EQ(shaper.transmit(7, 1'000'000), 7);
  EXPECT_EQ(shaper.unsent(7), 0U);
}

TEST(Shaper, SaysWhatIsStillToBeSent) {
  Shaper shaper;
  shaper.set_rate(8e6);  // a byte a microsecond
  shaper.transmit(0, 1000);
  EXPECT_EQ(shaper.unsent(400 * kMicrosecond), 600U);
  EXPECT_EQ(shaper.unsent(kMillisecond), 0U);
  shaper.stop(400 * kMicrosecond);
  EXPECT_EQ(shaper.unsent(400 * kMicrosecond), 0U);
}

TEST(Shaper, ANewRateLeavesWhatWasBegun) {
  Shaper shaper;
  shaper.set_rate(8e6);
  shaper.transmit(0, 1000);
  shaper.set_rate(8e9);
  EXPECT_EQ(shaper.free_at(), kMillisecond);
  EXPECT_EQ(shaper.transmit(0, 1000), kMillisecond + kMicrosecond);
}

}  // namespace
}  // namespace isthmus::lab
