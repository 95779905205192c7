#include "lab/chance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace isthmus::lab {
namespace {

// One draw per segment, as a string of outcomes.
std::vector<bool> one_by_one(Loss& loss, int count) {
  std::vector<bool> passed;
  for (int i = 0; i < count; ++i) passed.push_back(loss.passes(1) == 1);
  return passed;
}

TEST(Loss, NeverAndAlways) {
  Loss loss(1);
  EXPECT_EQ(loss.passes(1000), 1000U);
  loss.set_probability(1);
  EXPECT_EQ(loss.passes(10), 0U);
  EXPECT_EQ(loss.passes(10), 0U);
  loss.set_probability(0);
  EXPECT_EQ(loss.passes(10), 10U);
}

TEST(Loss, HasItsProbability) {
  Loss loss(7);
  loss.set_probability(0.01);
  const auto passed = one_by_one(loss, 200'000);
  const auto lost = std::count(passed.begin(), passed.end(), false);
  EXPECT_NEAR(static_cast<double>(lost), 2000, 200);  // 4.5 standard deviations
}

TEST(Loss, ItDoesNotMatterHowSegmentsAreGrouped) {
  Loss single(3), grouped(3);
  single.set_probability(0.05);
  grouped.set_probability(0.05);
  const auto wanted = one_by_one(single, 10'000);
  std::vector<bool> found;
  while (found.size() < 10'000) {
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(44, 10'000 - found.size()));
    const std::uint32_t passed = grouped.passes(n);
    found.insert(found.end(), passed, true);
    if (passed < n) found.push_back(false);
  }
  EXPECT_EQ(found, wanted);
}

TEST(Loss, TheSameSeedLosesTheSame) {
  Loss one(5), other(5), third(6);
  for (Loss* loss : {&one, &other, &third}) loss->set_probability(0.1);
  const auto wanted = one_by_one(one, 1000);
  EXPECT_EQ(one_by_one(other, 1000), wanted);
  EXPECT_NE(one_by_one(third, 1000), wanted);
}

TEST(Jitter, StaysInItsRange) {
  Jitter jitter(1);
  EXPECT_EQ(jitter.draw(), 0);
  jitter.set_most(100);
  Nanos least = 1000, most = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Nanos drawn = jitter.draw();
    least = std::min(least, drawn);
    most = std::max(most, drawn);
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 100);
}

}  // namespace
}  // namespace isthmus::lab
