#include "daemon/gateway/readiness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr core::NodeId kHere = core::kFirstGateway;

/// Cluster 0 has gateways 0 and 1, cluster 1 has gateway 2, cluster 2 is a part of its own with
/// gateways 0 and 1.
core::World two_parts() {
  core::World world;
  world.clusters = {{"a", 0, 1}, {"b", 1, 1}, {"spawned", 2, 1}};
  world.clusters[2].part = 1;
  world.gateways = {{kHere, {0, 2}}, {kHere + 1, {0, 2}}, {kHere + 2, {1}}};
  return world;
}

TEST(Readiness, NewsCountsOnceForEachGatewayAndPart) {
  Readiness readiness;
  EXPECT_TRUE(readiness.learn(kHere, 0));
  EXPECT_FALSE(readiness.learn(kHere, 0));
  EXPECT_TRUE(readiness.learn(kHere, 1));
  EXPECT_EQ(readiness.known().size(), 2U);
}

TEST(Readiness, RemembersNoMoreGatewaysThanAnyGridHas) {
  Readiness readiness;
  for (std::size_t i = 0; i < Readiness::kMost; ++i) {
    ASSERT_TRUE(readiness.learn(kHere, static_cast<int>(i)));
  }
  EXPECT_FALSE(readiness.learn(kHere, -1));
}

TEST(Readiness, AllIsDoneWhenSomeGatewayOfEachClusterSaysSo) {
  Readiness readiness;
  EXPECT_TRUE(readiness.learn_done(kHere + 1));
  EXPECT_FALSE(readiness.learn_done(kHere + 1));
  EXPECT_FALSE(readiness.all_done(two_parts()));
  EXPECT_TRUE(readiness.learn_done(kHere + 2));
  EXPECT_TRUE(readiness.all_done(two_parts()));
}

TEST(Readiness, WhatHasFailedNeedNotBeDone) {
  Readiness readiness;
  readiness.learn_done(kHere);
  EXPECT_FALSE(readiness.all_done(two_parts()));
  readiness.forget(1);
  EXPECT_TRUE(readiness.all_done(two_parts()));
}

TEST(Readiness, APartIsReadyOnceWhenSomeGatewayOfEachClusterSaysSo) {
  const core::World world = two_parts();
  const std::vector<std::size_t> clusters{0, 2};
  Presence presence;
  Readiness readiness;
  presence.join(0);
  readiness.learn(kHere, 0);
  EXPECT_THAT(readiness.take_ready(world, clusters, presence), IsEmpty());
  readiness.learn(kHere + 2, 0);
  EXPECT_THAT(readiness.take_ready(world, clusters, presence), ElementsAre(0));
  EXPECT_THAT(readiness.take_ready(world, clusters, presence), IsEmpty());
  presence.join(2);
  readiness.learn(kHere + 1, 1);
  EXPECT_THAT(readiness.take_ready(world, clusters, presence), ElementsAre(1));
}

TEST(Readiness, OthersMayBeReadyBeforeTheProcessesHere) {
  Presence presence;
  Readiness readiness;
  for (core::NodeId i = 0; i < 3; ++i) readiness.learn(kHere + i, 0);
  const std::vector<std::size_t> clusters{0};
  EXPECT_THAT(readiness.take_ready(two_parts(), clusters, presence), IsEmpty());
  presence.join(0);
  EXPECT_THAT(readiness.take_ready(two_parts(), clusters, presence), ElementsAre(0));
}

TEST(Readiness, NobodyWaitsForAClusterThatHasFailed) {
  const std::vector<std::size_t> clusters{0};
  Presence presence;
  presence.join(0);
  Readiness readiness;
  readiness.learn(kHere, 0);
  EXPECT_THAT(readiness.take_ready(two_parts(), clusters, presence), IsEmpty());
  readiness.forget(1);
  EXPECT_THAT(readiness.take_ready(two_parts(), clusters, presence), ElementsAre(0));
}

TEST(Readiness, AGatewayThatOnlyForwardsHasTheFirstPartAlone) {
  Readiness readiness;
  readiness.learn(kHere, 0);
  readiness.learn(kHere, 1);
  EXPECT_THAT(readiness.take_ready(two_parts(), {}, {}), IsEmpty());
  readiness.learn(kHere + 2, 0);
  EXPECT_THAT(readiness.take_ready(two_parts(), {}, {}), ElementsAre(0));
}

}  // namespace
}  // namespace isthmus::daemon
