#include "net/waiting/looking.hpp"

#include <gtest/gtest.h>

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

/// Looks once a microsecond, in vain, until it is to sleep; the time when that is.
Looking::Time looks_in_vain(Looking& looking, Looking::Time now) {
  while (looking.goes_on(now, now + 1us)) now += 1us;
  return now + 1us;
}

TEST(LookingTest, LooksForAMomentAfterAnArrival) {
  Looking looking;
  ASSERT_TRUE(looking.woken(1s));
  EXPECT_EQ(looks_in_vain(looking, 1s), 1s + Looking::kPatience);
}

TEST(LookingTest, WhatIsFoundProlongsIt) {
  Looking looking;
  ASSERT_TRUE(looking.woken(1s));
  looking.found(1s + 20us);
  EXPECT_EQ(looks_in_vain(looking, 1s + 20us), 1s + 20us + Looking::kPatience);
}

TEST(LookingTest, WhereNothingComesItIsTriedEverMoreSeldom) {
  Looking looking;
  Looking::Time now = 1s;
  int looked = 0;
  for (int arrival = 0; arrival < 10'000; ++arrival, now += 1ms) {
    if (!looking.woken(now)) continue;
    ++looked;
    looks_in_vain(looking, now);
  }
  EXPECT_GE(looked, 10'000 / 257);
  EXPECT_LE(looked, 10'000 / 257 + 9);
}

TEST(LookingTest, WhatIsFoundMakesUpForMissesBefore) {
  Looking looking;
  Looking::Time now = 1s;
  for (int arrival = 0; arrival < 1000; ++arrival, now += 1ms) {
    if (looking.woken(now)) looks_in_vain(looking, now);
  }
  while (!looking.woken(now)) now += 1ms;
  looking.found(now);
  now = looks_in_vain(looking, now);
  EXPECT_FALSE(looking.woken(now)) << "once";
  EXPECT_TRUE(looking.woken(now));
}

TEST(LookingTest, WhereOthersComputeItIsGivenUpForManyTimesAsLong) {
  Looking looking;
  ASSERT_TRUE(looking.woken(1s));
  looking.found(2s);
  EXPECT_FALSE(looking.goes_on(2s, 2s + 4ms));
  EXPECT_FALSE(looking.woken(2s + 203ms));
  EXPECT_TRUE(looking.woken(2s + 204ms));
}

}  // namespace
}  // namespace isthmus::net
