#include "core/base/sampling.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

constexpr auto kPeriod = Sampling::kPeriod;

// An owner in virtual time, which looks when a sample is due, and only then.
struct Owner {
  Sampling sampling{0ms};
  Sampling::Time now{};
  int taken = 0;
  bool moves = false;

  void run(Sampling::Time time) {
    for (const auto end = now + time; now < end; now += 1ms) {
      if (!sampling.due(now)) continue;
      sampling.take(now, moves);
      ++taken;
    }
  }
};

TEST(Sampling, GoesOnWhileSomethingMoves) {
  Owner owner{.moves = true};
  owner.run(10s + 1ms);
  EXPECT_EQ(owner.taken, 100);
  EXPECT_FALSE(owner.sampling.at_rest());
}

TEST(Sampling, RestsOnceNothingHasMovedForSoManyPeriods) {
  Owner owner;
  owner.run(kPeriod * Sampling::kStill + 1ms);
  EXPECT_EQ(owner.taken, Sampling::kStill);
  EXPECT_TRUE(owner.sampling.at_rest());
  owner.run(1h);
  EXPECT_EQ(owner.taken, Sampling::kStill) << "not one more in an hour";
}

TEST(Sampling, BeginsWithWhatEndsTheRest) {
  Owner owner;
  owner.run(10s);
  owner.sampling.stir(owner.now);
  EXPECT_FALSE(owner.sampling.at_rest());
  EXPECT_FALSE(owner.sampling.due(owner.now + kPeriod - 1ms));
  EXPECT_TRUE(owner.sampling.due(owner.now + kPeriod));
  EXPECT_EQ(owner.sampling.take(owner.now + kPeriod, true), kPeriod) << "the rest does not count";
}

TEST(Sampling, DoesNotBeginAnewWhereThePauseIsShort) {
  Owner owner;
  owner.run(kPeriod * Sampling::kStill - 1ms);
  const int before = owner.taken;
  owner.sampling.stir(owner.now);
  owner.run(3ms);
  EXPECT_EQ(owner.taken, before + 1) << "the period that has begun ends as it would have";
  owner.run(kPeriod * (Sampling::kStill - 2));
  EXPECT_FALSE(owner.sampling.at_rest()) << "but what is still is counted from here";
}

TEST(Sampling, TellsHowLongAPeriodWasThatHasEndedLate) {
  Sampling sampling(1s);
  EXPECT_EQ(sampling.take(1s + 3 * kPeriod, true), 3 * kPeriod);
  EXPECT_EQ(sampling.take(1s + 4 * kPeriod, true), kPeriod);
}

}  // namespace
}  // namespace isthmus::core
