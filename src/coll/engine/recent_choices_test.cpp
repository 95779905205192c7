#include "coll/engine/recent_choices.hpp"

#include <gtest/gtest.h>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

Choice choice_of(std::size_t index) { return {&algorithms()[index], {}}; }

TEST(RecentChoices, AreFoundByAllThatTheyDependOn) {
  RecentChoices recent;
  const Problem problem{Kind::Reduce, 800, true, 1};
  EXPECT_EQ(recent.find(problem, 64), nullptr);
  recent.keep(problem, 64, choice_of(3));
  ASSERT_NE(recent.find(problem, 64), nullptr);
  EXPECT_EQ(recent.find(problem, 64)->algorithm, &algorithms()[3]);
  const Problem others[] = {{Kind::Allreduce, 800, true, 1},
                            {Kind::Reduce, 801, true, 1},
                            {Kind::Reduce, {}, true, 1},
                            {Kind::Reduce, 800, false, 1},
                            {Kind::Reduce, 800, true, 0}};
  for (const Problem& other : others) EXPECT_EQ(recent.find(other, 64), nullptr);
  EXPECT_EQ(recent.find(problem, 0), nullptr);
}

TEST(RecentChoices, NewOnesTakeThePlaceOfOld) {
  RecentChoices recent;
  for (std::size_t bytes = 0; bytes < 1000; ++bytes) {
    const Problem problem{Kind::Bcast, bytes, true, 0};
    recent.keep(problem, 0, choice_of(bytes % algorithms().size()));
    ASSERT_NE(recent.find(problem, 0), nullptr);
    EXPECT_EQ(recent.find(problem, 0)->algorithm, &algorithms()[bytes % algorithms().size()]);
  }
}

TEST(RecentChoices, AreClearedWhereWhatTheyDependOnChanges) {
  RecentChoices recent;
  recent.keep({Kind::Barrier, {}}, 0, choice_of(0));
  recent.clear();
  EXPECT_EQ(recent.find({Kind::Barrier, {}}, 0), nullptr);
}

}  // namespace
}  // namespace isthmus::coll
