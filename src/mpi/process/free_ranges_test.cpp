#include "mpi/process/free_ranges.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

namespace isthmus::face {
namespace {

/// Has the members search for one communicator; all of them find the same.
std::optional<int> agree(const std::vector<FreeRanges*>& members, std::uint64_t seed) {
  std::deque<RangeSearch> searches;
  for (FreeRanges* member : members) searches.emplace_back(*member, seed);
  for (bool over = false; !over;) {
    std::uint64_t common = ~std::uint64_t{0};
    for (const RangeSearch& search : searches) common &= search.offer();
    for (RangeSearch& search : searches) over = search.settle(common);
  }
  for (const RangeSearch& search : searches) EXPECT_EQ(search.found(), searches[0].found());
  return searches[0].found();
}

TEST(FreeRanges, EachIsFoundOnceAndAgainWhenItIsGivenBack) {
  FreeRanges a(100);
  FreeRanges b(100);
  std::set<int> found;
  for (int i = 0; i < 100; ++i) {
    const auto range = agree({&a, &b}, 7);
    ASSERT_TRUE(range);
    EXPECT_LT(*range, 100);
    EXPECT_TRUE(found.insert(*range).second);
  }
  EXPECT_FALSE(agree({&a, &b}, 7));
  a.give_back(31);
  EXPECT_FALSE(agree({&a, &b}, 7));  // free on one member only
  b.give_back(31);
  EXPECT_EQ(agree({&a, &b}, 7), 31);
}

TEST(FreeRanges, WhatIsTakenIsNotFound) {
  FreeRanges a(2);
  a.take_one(0);
  EXPECT_EQ(agree({&a}, 0), 1);
  EXPECT_FALSE(agree({&a}, 0));
}

TEST(FreeRanges, ASearchThatEndsEarlyGivesBackWhatItOffered) {
  FreeRanges a(3);
  { const RangeSearch search(a, 1); }
  const RangeSearch again(a, 1);
  EXPECT_EQ(again.offer(), 7U);
}

TEST(FreeRanges, SearchesAtATimeFindDifferentOnes) {
  FreeRanges a(64);
  RangeSearch first(a, 5);
  RangeSearch second(a, 5);
  EXPECT_EQ(first.offer() & second.offer(), 0U);
  EXPECT_TRUE(first.settle(first.offer()));
  EXPECT_TRUE(second.settle(second.offer()));
  EXPECT_TRUE(first.found());
  EXPECT_FALSE(second.found());
}

/// Communicators of random members come and go: no process is in two with one range.
TEST(FreeRanges, CommunicatorsThatShareMembersNeverShareRanges) {
  std::mt19937 random(1);
  std::deque<FreeRanges> processes;
  for (int i = 0; i < 5; ++i) processes.emplace_back(200);
  std::vector<std::set<int>> held(processes.size());
  struct Comm {
    std::vector<std::size_t> members;
    int range;
  };
  std::vector<Comm> comms;
  for (int round = 0; round < 20'000; ++round) {
    if (comms.size() > 150 || (!comms.empty() && random() % 3 == 0)) {
      std::swap(comms[random() % comms.size()], comms.back());
      for (const std::size_t member : comms.back().members) {
        processes[member].give_back(comms.back().range);
        held[member].erase(comms.back().range);
      }
      comms.pop_back();
      continue;
    }
    Comm made;
    std::vector<FreeRanges*> members;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      if (random() % 2 == 0) continue;
      made.members.push_back(i);
      members.push_back(&processes[i]);
    }
    if (members.empty()) continue;
    const auto range = agree(members, random());
    ASSERT_TRUE(range);  // some 75 of 200 are taken
    made.range = *range;
    for (const std::size_t member : made.members) {
      EXPECT_TRUE(held[member].insert(*range).second);
    }
    comms.push_back(made);
  }
}

}  // namespace
}  // namespace isthmus::face
