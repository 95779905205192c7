#include "mpi/process/cluster_changes.hpp"

#include <gtest/gtest.h>

namespace isthmus::face {
namespace {

using net::ClusterChange;
using Names = std::vector<std::string>;

// A spawned process knows clusters from its start that joined before.
TEST(ClusterChanges, WhatIsKnownFromTheStartIsListedOnce) {
  ClusterChanges changes;
  changes.begin("south,north");
  EXPECT_EQ(changes.at(0), nullptr);
  changes.add(ClusterChange::Joined, "south", "south has joined");
  changes.add(ClusterChange::Joined, "hill", "hill has joined");
  ASSERT_EQ(changes.count(), 2);
  EXPECT_EQ(changes.at(0)->cluster, "south");
  EXPECT_EQ(changes.at(1)->cluster, "hill");
  EXPECT_EQ(changes.at(1)->why, "hill has joined");
  EXPECT_EQ(changes.spares(), (Names{"south", "north", "hill"}));
}

TEST(ClusterChanges, WhatHasLeftMayJoinAgainAndKeepsItsPlace) {
  ClusterChanges changes;
  changes.begin("south");
  changes.add(ClusterChange::Left, "south", "it has left");
  changes.add(ClusterChange::Joined, "south", "it has joined");
  changes.add(ClusterChange::Failed, "west", "it has failed");
  ASSERT_EQ(changes.count(), 3);
  EXPECT_EQ(changes.at(0)->kind, ClusterChange::Left);
  EXPECT_EQ(changes.at(1)->kind, ClusterChange::Joined);
  EXPECT_EQ(changes.at(2)->kind, ClusterChange::Failed);
  EXPECT_EQ(changes.at(-1), nullptr);
  EXPECT_EQ(changes.at(3), nullptr);
  EXPECT_EQ(changes.spares(), Names{"south"});
}

TEST(ClusterChanges, WithoutSpareClusters) {
  ClusterChanges changes;
  changes.begin(nullptr);
  EXPECT_TRUE(changes.spares().empty());
}

}  // namespace
}  // namespace isthmus::face
