#include "core/world/rank_list.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace isthmus::core {
namespace {

using Ranks = std::vector<int>;

TEST(RankList, IsShort) {
  EXPECT_EQ(ranks_to_text(Ranks{}), "");
  EXPECT_EQ(ranks_to_text(Ranks{4}), "4");
  EXPECT_EQ(ranks_to_text(Ranks{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(ranks_to_text(Ranks{0, 2, 4, 6}), "0-6:2");
  EXPECT_EQ(ranks_to_text(Ranks{0, 5, 6, 9}), "0,5-6,9");
}

TEST(RankList, SurvivesTheRoundTrip) {
  for (const Ranks& ranks : {Ranks{0, 1, 2}, Ranks{3, 1, 2}, Ranks{0, 2, 4, 7, 8, 20, 30, 40},
                             Ranks{5, 5}, Ranks{9, 8, 7}, Ranks{1, 3}}) {
    EXPECT_EQ(ranks_from_text(ranks_to_text(ranks), 100), ranks) << ranks_to_text(ranks);
  }
}

TEST(RankList, RefusesWhatIsNone) {
  for (const char* text :
       {",", "1,", "a", "3-1", "1-", "-1", "1-5:0", "1 2", "99999999999", "1-2-3"}) {
    EXPECT_THROW(ranks_from_text(text, 100), std::invalid_argument) << text;
  }
  EXPECT_THROW(ranks_from_text("0-100", 100), std::invalid_argument);
  EXPECT_EQ(ranks_from_text("0-99", 100).size(), 100U);
}

}  // namespace
}  // namespace isthmus::core
