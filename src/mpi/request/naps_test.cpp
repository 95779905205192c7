#include "mpi/request/naps.hpp"

#include <gtest/gtest.h>

namespace isthmus::face {
namespace {

using namespace std::chrono_literals;

TEST(Naps, AreATenthOfTheTimeWaited) {
  Naps naps;
  Naps::Time now{1s};
  const Naps::Time begin = now;
  int taken = 0;
  while (now < begin + 10ms) {
    const auto nap = naps.next(now, false);
    EXPECT_GE(nap, Naps::kShortest);
    EXPECT_LE(nap, std::max<Naps::Time::duration>(Naps::kShortest, (now - begin) / 10));
    now += nap;
    ++taken;
  }
  EXPECT_LT(taken, 45);
}

TEST(Naps, HaveALongest) {
  Naps naps;
  const Naps::Time now{1s};
  EXPECT_EQ(naps.next(now, false), Naps::kShortest);
  EXPECT_EQ(naps.next(now + 1min, false), Naps::kLongest);
}

TEST(Naps, AreLongerForAProcessAloneInItsCluster) {
  Naps naps;
  const Naps::Time now{1s};
  EXPECT_EQ(naps.next(now, true), Naps::kShortestAlone);
  EXPECT_EQ(naps.next(now + 1min, true), Naps::kLongestAlone);
}

TEST(Naps, BeginAnewWhenSomethingHasCome) {
  Naps naps;
  const Naps::Time now{1s};
  naps.next(now, false);
  EXPECT_TRUE(naps.begun());
  naps.end();
  EXPECT_FALSE(naps.begun());
  EXPECT_EQ(naps.next(now + 1min, false), Naps::kShortest);
}

}  // namespace
}  // namespace isthmus::face
