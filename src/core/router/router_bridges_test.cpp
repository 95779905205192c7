// Gateways that stand in several networks or in networks without processes, and several links of
// one gateway.
#include <gtest/gtest.h>

#include "core/router/router_testbed.hpp"

namespace isthmus::core {
namespace {

double share(const Grid& grid, std::size_t link, std::size_t of) {
  return static_cast<double>(grid.crossed(link).size()) / static_cast<double>(of);
}

TEST(RouterBridges, OneGatewayOfTwoClustersPassesEachFrameOnOnce) {
  Grid grid({.sizes = {2, 2}, .gateways = {0, 0}, .bridges = {{0, 1}}});
  grid.send_many(300, 0, 2, kBulk);
  grid.send_many(200, 3, 1, 100);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_EQ(grid.links(), 0U);
  EXPECT_EQ(grid.twice(), 0U);
  const auto& crossings = grid.router(0).crossings();
  ASSERT_EQ(crossings.size(), 2U);
  EXPECT_EQ(crossings.at({0, 1}).frames, 300U);
  EXPECT_EQ(crossings.at({1, 0}).frames, 200U);
  EXPECT_EQ(crossings.at({1, 0}).wire_bytes, 200 * (100 + kHeaderSize));
}

TEST(RouterBridges, TwoOfThemShare) {
  Grid grid({.gateways = {0, 0}, .bridges = {{0, 1}, {1, 0}}});
  grid.send_many(1000, 0, 1, kBulk);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  const auto by = [&](std::size_t gate) {
    return static_cast<double>(grid.router(gate).crossings().at({0, 1}).frames);
  };
  EXPECT_EQ(by(0) + by(1), 1000);
  EXPECT_NEAR(by(0), 500, 100);
}

TEST(RouterBridges, OneOfTwoMayDie) {
  Grid grid({.gateways = {0, 0}, .bridges = {{0, 1}, {0, 1}}});
  grid.send_many(600, 0, 1, kBulk);
  grid.send_many(600, 1, 0, 100);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  grid.kill_gateway(0);
  EXPECT_TRUE(grid.settle(60s)) << grid.failure();
}

TEST(RouterBridges, TheLastOneThatDiesEndsTheJob) {
  Grid grid({.gateways = {0, 0}, .bridges = {{0, 1}}});
  grid.send_many(600, 0, 1, kBulk);
  grid.kill_gateway(0);
  grid.run(1s);
  EXPECT_EQ(grid.failure(), "rank 0 has no gateway left");
}

TEST(RouterBridges, ATreeOfThem) {
  Grid grid(
      {.sizes = {1, 1, 1}, .gateways = {0, 0, 0}, .bridges = {{0, 1}, {1, 2}}, .wires = {{0, 1}}});
  const auto there = grid.send(0, 2, kBulk), back = grid.send(2, 0), near = grid.send(0, 1),
             other = grid.send(1, 2);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_EQ(grid.crossed(0), (std::set{there, back}))
      << near << " and " << other << " need no link";
}

TEST(RouterBridges, AProcessTakesTheGatewayThatIsNearer) {
  // Cluster 0 has a gateway of its own, too, which reaches cluster 1 by the bridge alone.
  Grid grid({.gateways = {0, 0}, .bridges = {{0}, {0, 1}}, .wires = {{0, 1}}});
  grid.send_many(500, 0, 1, kBulk);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_TRUE(grid.crossed(0).empty());
}

TEST(RouterBridges, AGatewayWithoutProcessesForwards) {
  Grid grid({.gateways = {0, 0}, .bridges = {{0}, {}, {1}}, .wires = {{0, 1}, {1, 2}}});
  grid.send_many(300, 0, 1, kBulk);
  grid.send_many(300, 1, 0, 100);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_EQ(grid.crossed(0).size(), 600U);
  EXPECT_EQ(grid.crossed(1).size(), 600U);
}

TEST(RouterBridges, OneOfTwoThatForwardMayDie) {
  Grid grid({.gateways = {0, 0},
             .bridges = {{0}, {}, {}, {1}},
             .wires = {{0, 1}, {1, 3}, {0, 2}, {2, 3}},
             .patience = 20s});
  grid.send_many(600, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  EXPECT_FALSE(grid.crossed(0).empty() || grid.crossed(2).empty()) << "both are ways";
  grid.kill_gateway(1);
  EXPECT_TRUE(grid.settle(120s)) << grid.failure();
}

TEST(RouterBridges, TheLinksOfOneGatewayShareByBacklog) {
  Grid grid({.gateways = {1, 2}});
  grid.send_many(2000, 0, 1, kBulk);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_NEAR(share(grid, 0, 2000), 0.5, 0.05);
  EXPECT_NEAR(share(grid, 1, 2000), 0.5, 0.05);
}

TEST(RouterBridges, AFasterLinkOfOneGatewayCarriesMore) {
  Grid grid({.gateways = {1, 2}});
  grid.set_rate(1, 16 * 1024);  // of 64 KiB
  grid.send_many(2000, 0, 1, kBulk);
  ASSERT_TRUE(grid.settle(60s)) << grid.failure();
  EXPECT_NEAR(share(grid, 0, 2000), 0.8, 0.08);
}

TEST(RouterBridges, WhatWaitsForALinkThatStandsStillGoesByTheOther) {
  Grid grid({.gateways = {1, 2}, .room = 256 * 1024});
  grid.send_many(400, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 50; }));
  grid.silence(1);
  // Only the frames in its buffers still wait for it.
  ASSERT_TRUE(grid.run_until(
      [&] { return grid.router(0).held().first == 0 && grid.arrived() >= 400 - 2 * 256 / 32 - 2; },
      8s))
      << grid.arrived();
  grid.silence(1, false);
  EXPECT_TRUE(grid.settle(10s)) << grid.failure();
}

}  // namespace
}  // namespace isthmus::core
