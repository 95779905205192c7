#include "daemon/gateway/presence.hpp"

#include <gtest/gtest.h>

namespace isthmus::daemon {
namespace {

/// Two clusters of the first part, and one that was spawned.
core::World three_clusters() {
  core::World world;
  world.clusters = {{"a", 0, 2}, {"b", 2, 1}, {"spawned", 3, 1}};
  world.clusters[2].part = 1;
  return world;
}

TEST(Presence, APartHasJoinedWithTheLastProcessOfTheGatewaysClusters) {
  const core::World world = three_clusters();
  const std::vector<std::size_t> clusters{0, 2};
  Presence presence;
  EXPECT_FALSE(presence.all_joined(world, clusters, 0));
  EXPECT_EQ(presence.join(0), 1);
  EXPECT_FALSE(presence.all_joined(world, clusters, 0));
  EXPECT_EQ(presence.join(0), 2);
  EXPECT_TRUE(presence.all_joined(world, clusters, 0));
  EXPECT_FALSE(presence.all_joined(world, clusters, 1));
  presence.join(2);
  EXPECT_TRUE(presence.all_joined(world, clusters, 1));
}

TEST(Presence, AGatewayWithoutClustersWaitsForNoProcess) {
  EXPECT_TRUE(Presence().all_joined(three_clusters(), {}, 0));
}

TEST(Presence, SomeProcessIsInsideUntilAllThatJoinedHaveLeft) {
  Presence presence;
  EXPECT_FALSE(presence.any_inside());
  presence.join(0);
  presence.join(1);
  presence.leave(0);
  EXPECT_TRUE(presence.any_inside());
  presence.leave(1);
  EXPECT_FALSE(presence.any_inside());
}

TEST(Presence, NobodyWaitsForAClusterThatHasFailed) {
  const core::World world = three_clusters();
  const std::vector<std::size_t> clusters{0, 1};
  Presence presence;
  presence.join(0);
  presence.forget(0);
  EXPECT_FALSE(presence.any_inside());
  EXPECT_FALSE(presence.all_joined(world, clusters, 0));
  presence.join(1);
  EXPECT_TRUE(presence.all_joined(world, clusters, 0));
  EXPECT_TRUE(presence.any_inside());
}

TEST(Presence, AttendanceNamesTheFirstThatDied) {
  const std::vector<std::size_t> clusters{0, 1};
  Presence presence;
  for (int i = 0; i < 2; ++i) presence.join(0);
  presence.die(0, "rank 1");
  presence.die(0, "rank 0");
  const auto all = presence.attendance(three_clusters(), clusters);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].cluster, "a");
  EXPECT_EQ(all[0].size, 2);
  EXPECT_EQ(all[0].joined, 2);
  EXPECT_EQ(all[0].died, 2);
  EXPECT_EQ(all[0].first_died, "rank 1");
  EXPECT_EQ(all[1].joined, 0);
}

}  // namespace
}  // namespace isthmus::daemon
