#include "core/streams/after_pause.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

TEST(AfterPause, LastsSoManyRoundTripsFromTheFirstThatIsSent) {
  AfterPause pause;
  pause.set_round_trip(10ms);
  EXPECT_TRUE(pause.holds(1s));
  for (auto now = 1s + 0ms; now < 1s + 80ms; now += 9ms) {
    EXPECT_TRUE(pause.holds(now));
    pause.sent(now);
  }
  EXPECT_FALSE(pause.holds(1s + 81ms));
}

TEST(AfterPause, BeginsAgainAfterARoundTripOfSilenceAlone) {
  AfterPause pause;
  pause.set_round_trip(10ms);
  for (auto now = 1s + 0ms; now < 1s + 100ms; now += 9ms) pause.sent(now);
  EXPECT_FALSE(pause.holds(1s + 108ms));
  EXPECT_TRUE(pause.holds(1s + 110ms));
  pause.sent(1s + 110ms);
  pause.sent(1s + 189ms);
  EXPECT_TRUE(pause.holds(1s + 189ms));
}

TEST(AfterPause, NeedsNoLongerSilenceWhereTheRoundTripIsLong) {
  AfterPause pause;
  pause.set_round_trip(1s);
  for (auto now = 1s + 0ms; now < 10s; now += 150ms) pause.sent(now);
  EXPECT_FALSE(pause.holds(10s + 50ms));
  EXPECT_TRUE(pause.holds(10s + 350ms));
}

TEST(AfterPause, CountsWhatIsSentInARow) {
  AfterPause pause;
  pause.set_round_trip(12ms);
  EXPECT_EQ(pause.burst(0ms), 0U);
  pause.sent(0ms, 1000);
  pause.sent(5ms);
  pause.sent(6ms, 500);
  EXPECT_EQ(pause.burst(12ms), 1500U);
  EXPECT_EQ(pause.burst(13ms), 0U) << "half a round trip without any";
  pause.sent(13ms, 10);
  EXPECT_EQ(pause.burst(13ms), 10U);
}

TEST(AfterPause, FlowsWhereMuchIsSentInEachRoundTrip) {
  constexpr std::size_t kMessage = std::size_t{1} << 20;
  for (const auto each : {3ms, 10ms}) {
    AfterPause pause;
    pause.set_round_trip(50ms);
    AfterPause::Time now = 1h;
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(pause.flows(now), each == 3ms && i * kMessage >= AfterPause::kFlow) << i;
      pause.sent(now, kMessage);
      now += each;
    }
    EXPECT_FALSE(pause.flows(now + 50ms));
  }
}

}  // namespace
}  // namespace isthmus::core
