#include "core/world/limits.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

TEST(Limits, FewPeersMayFillTheFattestPipe) {
  EXPECT_EQ(limits_for(2).window, kMostWindow);
  EXPECT_GE(limits_for(2).window, std::size_t{10'000'000'000 / 8 / 1000 * 50});
}

TEST(Limits, AllPeersTogetherStayWithinTheMemory) {
  for (int ranks = 2; ranks <= 1000; ++ranks) {
    EXPECT_LE(limits_for(ranks).window * static_cast<std::size_t>(ranks - 1), kMemory) << ranks;
  }
}

TEST(Limits, ManyPeersStillHaveAWindowEach) {
  EXPECT_EQ(limits_for(1'000'000).window, kLeastWindow);
}

}  // namespace
}  // namespace isthmus::core
