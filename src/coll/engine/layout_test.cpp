#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coll/engine/party.hpp"

namespace isthmus::coll {
namespace {

using testing::ElementsAre;

TEST(Layout, IndexesClustersByFirstAppearance) {
  const std::vector<int> clusters{7, 7, 3, 3, 3, 9};
  const Layout layout(clusters);
  EXPECT_EQ(layout.size(), 6);
  EXPECT_EQ(layout.clusters(), 3);
  EXPECT_EQ(layout.cluster_of(0), 0);
  EXPECT_EQ(layout.cluster_of(4), 1);
  EXPECT_EQ(layout.index_of(4), 2);
  EXPECT_EQ(layout.leader(2), 5);
  EXPECT_THAT(layout.members(1), ElementsAre(2, 3, 4));
  EXPECT_TRUE(layout.blocks());
}

TEST(Layout, InterleavedClustersAreNotBlocks) {
  const std::vector<int> clusters{0, 1, 0, 1, 1};
  const Layout layout(clusters);
  EXPECT_FALSE(layout.blocks());
  EXPECT_THAT(layout.members(0), ElementsAre(0, 2));
  EXPECT_THAT(layout.members(1), ElementsAre(1, 3, 4));
  EXPECT_EQ(layout.index_of(3), 1);
}

TEST(Layout, OneReturnToAnEarlierClusterSufficesToInterleave) {
  EXPECT_FALSE(Layout(std::vector<int>{0, 1, 0}).blocks());
  EXPECT_TRUE(Layout(std::vector<int>{0, 0}).blocks());
  EXPECT_TRUE(Layout(std::vector<int>{2, 1, 0}).blocks());
}

}  // namespace
}  // namespace isthmus::coll
