#include "core/streams/crowd.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

constexpr double kRate = 125e6;  // 172 windows fill it for 20 ms

// The streams of each of `senders` senders.
int each_of(int senders, Crowd& crowd, Crowd::Time now) {
  std::vector<Crowd::Sender> all(static_cast<std::size_t>(senders));
  for (auto& sender : all) crowd.streams(sender, now);
  EXPECT_EQ(crowd.streams(all[0], now), crowd.streams(now));
  return crowd.streams(now);
}

TEST(Crowd, WhoSendsAloneHasAllStreams) {
  Crowd crowd(kRate, 20ms, 8, 0s);
  Crowd::Sender one;
  for (auto now = 1s + 0ms; now < 3s; now += 50ms) {
    EXPECT_EQ(crowd.streams(one, now), kMostStreams);
  }
}

TEST(Crowd, WindowsAreDividedAmongAllPairs) {
  Crowd alone(kRate, 20ms, 1, 0s), shared(kRate, 20ms, 4, 0s);
  EXPECT_EQ(each_of(2, alone, 1s), 172 / 2 / 2);
  EXPECT_EQ(each_of(8, alone, 2s), 172 / 2 / 8);
  EXPECT_EQ(each_of(8, shared, 2s), 172 / 2 / 8 / 4);
}

TEST(Crowd, OneStreamIsLeft) {
  Crowd crowd(kRate, 20ms, 1000, 0s);
  EXPECT_EQ(each_of(2, crowd, 1s), 1);
}

TEST(Crowd, WhoHasCeasedCountsForAPeriodMore) {
  Crowd crowd(kRate, 20ms, 1, 0s);
  Crowd::Sender one;
  each_of(7, crowd, 4s);
  EXPECT_EQ(crowd.streams(one, 4s + Crowd::kPeriod), 172 / 2 / 7);
  EXPECT_EQ(crowd.streams(one, 4s + 2 * Crowd::kPeriod), kMostStreams);
}

TEST(Crowd, APauseIsForgotten) {
  Crowd crowd(kRate, 20ms, 1, 0s);
  Crowd::Sender one;
  each_of(7, crowd, 4s);
  EXPECT_EQ(crowd.streams(one, 60s), kMostStreams);
}

TEST(Crowd, ItIsKnownOnceItHasLasted) {
  const Crowd crowd(kRate, 20ms, 1, 5s);
  EXPECT_FALSE(crowd.known(5s + Crowd::kPeriod));
  EXPECT_TRUE(crowd.known(5s + Crowd::kPeriod + 1ms));
}

}  // namespace
}  // namespace isthmus::core
