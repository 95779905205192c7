#include "core/streams/pace.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

TEST(Pace, WithoutARateNothingWaits) {
  Pace pace;
  EXPECT_FALSE(pace.limited());
  pace.sent(1'000'000'000);
  EXPECT_TRUE(pace.may_send(0ns));
}

TEST(Pace, ALongRunHasTheRate) {
  Pace pace;
  pace.set(125e6, 0ns);
  Pace::Time now{};
  std::size_t sent = 0;
  while (now < 10s) {
    while (pace.may_send(now)) {
      pace.sent(64 * 1024);
      sent += 64 * 1024;
    }
    ASSERT_GT(pace.next(now), now);
    now = pace.next(now);
    ASSERT_TRUE(pace.may_send(now));
  }
  EXPECT_NEAR(static_cast<double>(sent), 1250e6, 0.001 * 1250e6);
}

TEST(Pace, LateWakeUpsAreMadeUpFor) {
  Pace pace;
  pace.set(125e6, 0ns);
  std::size_t sent = 0;
  for (Pace::Time now{}; now < 10s; now += 2ms) {
    while (pace.may_send(now)) {
      pace.sent(64 * 1024);
      sent += 64 * 1024;
    }
  }
  EXPECT_NEAR(static_cast<double>(sent), 1250e6, 0.001 * 1250e6);
}

TEST(Pace, AfterAPauseABoundedBurst) {
  Pace pace;
  pace.set(125e6, 0ns);
  std::size_t burst = 0;
  while (pace.may_send(3600s)) {
    pace.sent(1000);
    burst += 1000;
  }
  EXPECT_LE(burst, 251'000U);
  EXPECT_GE(burst, 250'000U);
}

TEST(Pace, APartOfTheRateIsADebtForWhatWasSentBefore) {
  Pace pace;
  pace.set(125e6, 0ns);
  while (pace.may_send(0ns)) pace.sent(1000);
  pace.share(0.125, 0ns);
  EXPECT_FALSE(pace.may_send(0ns));
  std::size_t sent = 250'000;
  Pace::Time now{};
  for (; now < 1s; now = pace.next(now)) {
    while (pace.may_send(now)) {
      pace.sent(1000);
      sent += 1000;
    }
  }
  EXPECT_NEAR(static_cast<double>(sent), 125e6 / 8 + 250e3 / 8, 2000);
  // All of it again: as if it had always been so.
  pace.share(1, now);
  sent = 0;
  while (pace.may_send(now)) {
    pace.sent(1000);
    sent += 1000;
  }
  EXPECT_NEAR(static_cast<double>(sent), 250e3 * 7 / 8, 2000);
}

}  // namespace
}  // namespace isthmus::core
