// A process that one of its gateways does not reach any more, while both go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/router/router_testbed.hpp"

namespace isthmus::core {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(RouterCutOff, WhatIsForTheProcessGoesBackAndByAnotherGateway) {
  Grid grid({.sizes = {2, 2}, .gateways = {2, 2}});
  for (int from : {0, 1}) {
    for (int to : {2, 3}) {
      grid.send_many(300, from, to, kBulk);
      grid.send_many(300, to, from, 100);
    }
  }
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 300; }));
  grid.cut_off(2, 2);
  ASSERT_TRUE(grid.settle(120s)) << grid.failure();
  ASSERT_THAT(grid.warnings(2), SizeIs(1));
  EXPECT_THAT(grid.warnings(2)[0], HasSubstr("rank 2"));
  // The others of its cluster are still reached by that gateway.
  const std::size_t before = grid.crossed(0).size();
  grid.send_many(200, 0, 3, kBulk);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_GT(grid.crossed(0).size(), before + 50);
  const std::size_t then = grid.crossed(0).size();
  grid.send_many(200, 0, 2, kBulk);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_EQ(grid.crossed(0).size(), then) << "it is known by now";
}

TEST(RouterCutOff, SoItDoesWhereABridgeHasLostIt) {
  Grid grid({.gateways = {0, 0}, .bridges = {{0, 1}, {0, 1}}});
  grid.send_many(500, 0, 1, kBulk);
  grid.send_many(500, 1, 0, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 200; }));
  grid.cut_off(1, 0);
  EXPECT_TRUE(grid.settle(120s)) << grid.failure();
}

// It has frames between processes that both go on without it.
TEST(RouterCutOff, ABridgeThatAllProcessesGiveUpDoesNoHarm) {
  Grid grid({.sizes = {2, 2}, .gateways = {0, 0}, .bridges = {{0, 1}, {0, 1}}});
  for (int from : {0, 1}) {
    for (int to : {2, 3}) {
      grid.send_many(300, from, to, kBulk);
      grid.send_many(300, to, from, kBulk);
    }
  }
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 300; }));
  for (int rank : {2, 3, 0, 1}) grid.cut_off(rank, 0);
  EXPECT_TRUE(grid.settle(120s)) << grid.failure();
}

TEST(RouterCutOff, OverAThirdCluster) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 2}});
  grid.send_many(500, 0, 2, kBulk);
  grid.send_many(500, 2, 0, 100);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 200; }));
  grid.cut_off(2, 3);
  EXPECT_TRUE(grid.settle(120s)) << grid.failure();
}

TEST(RouterCutOff, FromAllItsGatewaysItEndsTheJob) {
  Grid grid({.sizes = {1, 2}, .gateways = {2, 2}});
  grid.cut_off(1, 2);
  grid.run(1s);
  EXPECT_EQ(grid.failure(), "");
  grid.cut_off(1, 3);
  grid.run(1s);
  EXPECT_EQ(grid.failure(), "rank 1 has no gateway left");
}

TEST(RouterCutOff, WhereItsClusterHasOneGatewayItEndsTheJob) {
  Grid grid({.sizes = {2, 1}, .gateways = {1, 2}});
  grid.cut_off(0, 0);
  EXPECT_THAT(grid.failure(), HasSubstr("rank 0 has no gateway left"));
}

}  // namespace
}  // namespace isthmus::core
