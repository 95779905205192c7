// Groups against a plain vector of world ranks.
#include "core/world/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace isthmus::core {
namespace {

using Ranks = std::vector<int>;

bool holds(const Ranks& ranks, int r) {
  return std::find(ranks.begin(), ranks.end(), r) != ranks.end();
}

// Shapes that programs make: blocks, strides, reversed and shuffled ones.
Ranks random_ranks(std::mt19937& random, int world) {
  Ranks all(static_cast<std::size_t>(world));
  std::iota(all.begin(), all.end(), 0);
  switch (random() % 5) {
    case 0:
      std::shuffle(all.begin(), all.end(), random);
      break;
    case 1:
      std::reverse(all.begin(), all.end());
      break;
    case 2:
      std::stable_partition(all.begin(), all.end(), [](int r) { return r % 2 == 0; });
      break;
    case 3:
      std::rotate(all.begin(), all.begin() + static_cast<int>(random() % all.size()), all.end());
      break;
    default:
      break;
  }
  if (random() % 2 == 0) std::erase_if(all, [&](int) { return random() % 3 == 0; });
  return all;
}

void expect_same(const Group& group, const Ranks& ranks, int world) {
  ASSERT_EQ(group.nodes(), ranks);
  ASSERT_EQ(group.size(), static_cast<int>(ranks.size()));
  for (int i = 0; i < group.size(); ++i) {
    ASSERT_EQ(group.node(i), ranks[static_cast<std::size_t>(i)]);
  }
  for (int r = -1; r <= world; ++r) {
    const auto at = std::find(ranks.begin(), ranks.end(), r);
    const auto found = group.rank_of(r);
    ASSERT_EQ(found.has_value(), at != ranks.end()) << r;
    if (found) {
      ASSERT_EQ(*found, at - ranks.begin());
    }
  }
}

TEST(Group, AgreesWithBruteForce) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const int world = 1 + static_cast<int>(random() % 70);
    const Ranks a = random_ranks(random, world);
    const Ranks b = random_ranks(random, world);
    const Group ga = Group::of(a);
    const Group gb = Group::of(b);
    expect_same(ga, a, world);
    Ranks both = a;
    Ranks common;
    Ranks only;
    for (const int r : b) {
      if (!holds(a, r)) both.push_back(r);
    }
    for (const int r : a) (holds(b, r) ? common : only).push_back(r);
    expect_same(ga.unite(gb), both, world);
    expect_same(ga.intersect(gb), common, world);
    expect_same(ga.subtract(gb), only, world);

    Ranks sorted_a = a;
    Ranks sorted_b = b;
    std::sort(sorted_a.begin(), sorted_a.end());
    std::sort(sorted_b.begin(), sorted_b.end());
    const Likeness likeness = a == b                 ? Likeness::Identical
                              : sorted_a == sorted_b ? Likeness::Similar
                                                     : Likeness::Unequal;
    ASSERT_EQ(ga.compare(gb), likeness);

    if (a.empty()) continue;
    Ranks chosen = random_ranks(random, static_cast<int>(a.size()));
    Ranks included;
    Ranks excluded;
    for (const int i : chosen) included.push_back(a[static_cast<std::size_t>(i)]);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!holds(chosen, static_cast<int>(i))) excluded.push_back(a[i]);
    }
    expect_same(ga.include(chosen), included, world);
    expect_same(ga.exclude(chosen), excluded, world);
  }
}

TEST(Group, RangeIsTheSameGroupAsItsRanks) {
  for (int count = 0; count < 5; ++count) {
    Ranks ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 7);
    EXPECT_EQ(Group::range(7, count).compare(Group::of(ranks)), Likeness::Identical);
    expect_same(Group::range(7, count), ranks, 20);
  }
  EXPECT_EQ(Group().compare(Group::range(0, 0)), Likeness::Identical);
}

TEST(Group, RefusesWhatIsNoSetOfRanks) {
  EXPECT_THROW(Group::of(Ranks{1, 2, 1}), std::invalid_argument);
  EXPECT_THROW(Group::of(Ranks{1, -2}), std::invalid_argument);
  EXPECT_THROW(Group::range(-1, 2), std::invalid_argument);
  EXPECT_THROW(Group::range(INT32_MAX, 2), std::invalid_argument);
  const Group group = Group::range(10, 3);
  EXPECT_THROW(group.include(Ranks{0, 3}), std::invalid_argument);
  EXPECT_THROW(group.include(Ranks{0, 0}), std::invalid_argument);
  EXPECT_THROW(group.exclude(Ranks{-1}), std::invalid_argument);
}

TEST(Group, ExpandsRangesAsTheStandardDoes) {
  using Range = Group::Range;
  EXPECT_EQ(Group::expand(std::vector<Range>{{1, 6, 2}, {9, 4, -3}, {2, 2, 5}}),
            (Ranks{1, 3, 5, 9, 6, 2}));
  EXPECT_EQ(Group::expand(std::vector<Range>{{3, 3, -1}}), (Ranks{3}));
  EXPECT_THROW(Group::expand(std::vector<Range>{{0, 4, 0}}), std::invalid_argument);
  EXPECT_THROW(Group::expand(std::vector<Range>{{0, 4, -1}}), std::invalid_argument);
  EXPECT_THROW(Group::expand(std::vector<Range>{{4, 0, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace isthmus::core
