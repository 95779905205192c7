// Clusters that fail, while the others go on.
#include <gtest/gtest.h>

#include "core/router/router_testbed.hpp"

namespace isthmus::core {
namespace {

using Clusters = std::set<std::size_t>;

std::vector<std::uint64_t> send_many(Grid& grid, int count, int from, int to,
                                     std::size_t size = kBulk) {
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(grid.send(from, to, size));
  return numbers;
}

bool arrive(Grid& grid, const std::vector<std::uint64_t>& numbers) {
  return grid.run_until([&] {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](std::uint64_t number) { return grid.has_arrived(number); });
  });
}

TEST(RouterFailures, FramesForAFailedClusterMakeRoomForOthers) {
  constexpr std::size_t kRoom = 256 * 1024;
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 1}, .room = kRoom, .survives = true});
  grid.stall(2);
  send_many(grid, 300, 0, 2);
  grid.run(5s);
  EXPECT_GT(grid.router(0).held().first, 0U);
  const auto others = send_many(grid, 300, 0, 1);
  grid.kill_cluster(2);
  grid.tell_failed(2);
  EXPECT_EQ(grid.router(0).held().first, 0U);
  EXPECT_TRUE(arrive(grid, others)) << grid.failure();
  EXPECT_TRUE(arrive(grid, send_many(grid, 100, 1, 0)));
  EXPECT_EQ(grid.failure(), "");
}

TEST(RouterFailures, NothingOfAFailedClusterArrivesAnyMore) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 1}, .survives = true});
  const auto late = send_many(grid, 300, 2, 0);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 0; }));
  grid.router(0).forget(2);
  const std::size_t before = grid.arrived();
  grid.run(5s);
  EXPECT_LE(grid.arrived(), before + 2) << "but for what was on the way to the process";
  EXPECT_EQ(grid.failure(), "");
}

TEST(RouterFailures, ASilentClusterIsSuspectedOnceItsPatienceIsOver) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 1}, .patience = 20s, .survives = true});
  send_many(grid, 30, 0, 2);
  grid.run(1s);
  grid.kill_cluster(2);
  grid.run(10s);
  EXPECT_EQ(grid.suspects(1), Clusters{});
  const auto lost = send_many(grid, 30, 0, 2);
  EXPECT_TRUE(grid.run_until([&] { return grid.suspects(1) == Clusters{2}; }));
  EXPECT_EQ(grid.suspects(0), Clusters{});
  EXPECT_TRUE(arrive(grid, send_many(grid, 300, 0, 1))) << "frames for it are dropped meanwhile";
  EXPECT_EQ(grid.failure(), "");
  grid.tell_failed(2);
  EXPECT_TRUE(arrive(grid, send_many(grid, 300, 1, 0)));
  EXPECT_EQ(grid.failure(), "");
}

TEST(RouterFailures, WithoutSurvivalTheSameEndsTheJob) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 1}, .patience = 20s});
  grid.kill_cluster(2);
  grid.run(30s);
  EXPECT_NE(grid.failure(), "");
}

TEST(RouterFailures, TheTwoSidesOfAFailedClusterSuspectEachOther) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 1}, .survives = true});
  grid.kill_cluster(1);
  grid.tell_failed(1);
  EXPECT_EQ(grid.suspects(0), Clusters{2});
  EXPECT_EQ(grid.suspects(2), Clusters{0});
  EXPECT_EQ(grid.failure(), "");
}

TEST(RouterFailures, WhatAFailedClusterCarriedForOthersGoesAnotherWay) {
  Grid grid({.sizes = {1, 1, 1, 1}, .gateways = {1, 1, 1, 1}, .ring = true, .survives = true});
  const auto across = send_many(grid, 500, 0, 2);
  const auto back = send_many(grid, 500, 2, 0, 100);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 50; }));
  grid.kill_cluster(1);
  grid.tell_failed(1);
  EXPECT_TRUE(arrive(grid, across)) << grid.failure();
  EXPECT_TRUE(arrive(grid, back)) << grid.failure();
  for (const std::size_t gate : {0, 2, 3}) EXPECT_EQ(grid.suspects(gate), Clusters{});
}

TEST(RouterFailures, AGatewayOfSeveralClustersStaysForTheOthers) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {0, 0, 0}, .bridges = {{0, 1, 2}}, .survives = true});
  send_many(grid, 100, 0, 2);
  grid.kill_cluster(2);
  grid.tell_failed(2);
  EXPECT_TRUE(arrive(grid, send_many(grid, 100, 0, 1)));
  EXPECT_EQ(grid.failure(), "");
}

TEST(RouterFailures, AClusterIsForgottenOnce) {
  Grid grid({.sizes = {1, 1}, .survives = true});
  EXPECT_TRUE(grid.router(0).forget(1));
  EXPECT_FALSE(grid.router(0).forget(1));
  EXPECT_FALSE(grid.router(0).forget(7));
  EXPECT_TRUE(grid.router(0).forgotten(1));
  EXPECT_TRUE(grid.router(0).forgotten(kFirstGateway + 1));
  EXPECT_FALSE(grid.router(0).forgotten(kFirstGateway));
}

}  // namespace
}  // namespace isthmus::core
