// The ways of frames through a grid, the frames that come back and those sent again.

#include <gmock/gmock.h>

#include "core/router/router_testbed.hpp"

namespace isthmus::core {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::uint64_t> numbers(const std::vector<Grid::Seen>& seen) {
  std::vector<std::uint64_t> all;
  for (const auto& [number, flags] : seen) all.push_back(number);
  return all;
}

TEST(Router, AFrameArrivesOnceAndInOrderWhereThereIsOneWay) {
  Grid grid({});
  std::vector<std::uint64_t> sent;
  for (int i = 0; i < 500; ++i) sent.push_back(grid.send(0, 1, kBulk));
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(numbers(grid.arrivals(1)), sent);
  EXPECT_THAT(grid.arrivals(1), Each(Field(&Grid::Seen::flags, 0)));
  EXPECT_EQ(grid.twice(), 0U);
  EXPECT_EQ(grid.router(0).redirected(), 0U);
}

TEST(Router, WhatAStreamLosesGoesByTheOthersAndNothingComesBack) {
  Grid grid({.streams = 4, .cut = 0.01});
  grid.send_many(1000, 0, 1, kBulk);
  grid.send_many(1000, 1, 0, 100);
  ASSERT_TRUE(grid.settle(600s));
  EXPECT_EQ(grid.twice(), 0U);
  EXPECT_THAT(grid.came_back(0), IsEmpty());
  EXPECT_EQ(grid.sent_again(0) + grid.sent_again(1), 0U);
}

TEST(Router, SeveralGatewaysShareByBacklog) {
  Grid grid({.gateways = {2, 2}});
  grid.send_many(1000, 0, 1, kBulk);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(grid.crossed(0).size() + grid.crossed(1).size(), 1000U);
  EXPECT_NEAR(static_cast<double>(grid.crossed(0).size()), 500, 50);
}

TEST(Router, AFasterWayCarriesMore) {
  Grid grid({.gateways = {2, 2}});
  grid.set_rate(1, 16 * 1024);  // of 64 KiB
  grid.send_many(2000, 0, 1, kBulk);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_NEAR(static_cast<double>(grid.crossed(0).size()), 1600, 160);
}

TEST(Router, AThirdClusterForwards) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {1, 1, 1}});
  const auto there = grid.send(0, 2, kBulk), back = grid.send(2, 0), near = grid.send(0, 1);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(grid.crossed(0), (std::set{there, back, near}));
  EXPECT_EQ(grid.crossed(1), (std::set{there, back}));
}

TEST(Router, AWayThatComesBackWithinTheFailoverLosesNothing) {
  Grid grid({.gateways = {2, 2}});
  grid.send_many(300, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 50; }));
  grid.silence(0);
  grid.run(8s);
  EXPECT_FALSE(grid.all_arrived()) << "some are on the way that is silent";
  grid.silence(0, false);
  ASSERT_TRUE(grid.settle(10s));
  EXPECT_THAT(grid.came_back(0), IsEmpty());
  EXPECT_THAT(grid.warnings(0), IsEmpty());
  EXPECT_EQ(grid.twice(), 0U);
}

// Custody: frames that may not have arrived come back to the rank that sent them, which sends them
// by its other gateway. No other frame does.
TEST(Router, WhatIsOnAWayThatDiesGoesBackToItsSourceAndByAnother) {
  Grid grid({.gateways = {2, 2}});
  grid.send_many(600, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  grid.silence(0);
  grid.run(1s);
  const auto arrived = grid.arrivals(1);
  ASSERT_TRUE(grid.run_until([&] { return !grid.warnings(0).empty(); }));
  EXPECT_GE(grid.now(), 10s);
  EXPECT_LT(grid.now(), 13s);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_THAT(grid.warnings(0)[0],
              HasSubstr("the link from gateway 0 of cluster \"c0\" to gateway 0 of cluster \"c1\" "
                        "is lost: the other end has not been heard for 10 s; what it carried goes "
                        "other ways"));
  const auto& back = grid.came_back(0);
  EXPECT_GT(back.size(), 0U);
  EXPECT_EQ(grid.sent_again(0), back.size());
  EXPECT_EQ(grid.router(0).redirected(), back.size());
  // Each has arrived, by the other way, marked as repeated; each that is so marked came back.
  std::set<std::uint64_t> repeated;
  for (const auto& [number, flags] : grid.arrivals(1)) {
    if (flags == kRepeated) repeated.insert(number);
  }
  EXPECT_EQ(repeated, back);
  for (const std::uint64_t number : back) EXPECT_TRUE(grid.crossed(1).contains(number));
  // Frames that had arrived unacknowledged are the duplicates.
  std::size_t had = 0;
  for (const auto& [number, flags] : arrived) had += back.contains(number) ? 1 : 0;
  EXPECT_EQ(grid.twice(), had);
  EXPECT_LT(had, back.size());
}

// The gateway itself has another link to that cluster: no frame goes back as far as its source.
TEST(Router, AGatewayWithAnotherLinkTurnsFramesAround) {
  Grid grid({.gateways = {1, 2}});
  grid.send_many(600, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  const std::size_t used = grid.crossed(0).size() > grid.crossed(1).size() ? 0 : 1;
  grid.silence(used);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_THAT(grid.came_back(0), IsEmpty());
  EXPECT_GT(grid.router(0).redirected(), 0U);
  EXPECT_EQ(grid.failure(), "");
}

// Two ways from the first cluster to the second, two on to the third. The second half of one is
// lost: frames there already go back the way they came.
TEST(Router, FramesComeBackThroughAThirdCluster) {
  Grid grid({.sizes = {1, 1, 1}, .gateways = {2, 2, 2}});
  grid.send_many(800, 0, 2, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 200; }));
  grid.silence(2);  // the first link of the second pair
  ASSERT_TRUE(grid.run_until([&] { return !grid.warnings(2).empty(); }));
  ASSERT_TRUE(grid.settle(60s));
  const auto& back = grid.came_back(0);
  EXPECT_GT(back.size(), 0U);
  // Some from the second cluster, some from the first, which had not sent them on yet.
  EXPECT_TRUE(std::any_of(back.begin(), back.end(),
                          [&](std::uint64_t number) { return grid.crossed(0).contains(number); }));
  for (const std::uint64_t number : back) EXPECT_TRUE(grid.crossed(3).contains(number));
  EXPECT_EQ(grid.sent_again(0), back.size());
  // Later frames avoid the way from the start.
  const auto before = grid.crossed(0).size();
  grid.send_many(100, 0, 2, kBulk);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(grid.crossed(0).size(), before);
}

// With several streams a returned frame may come before the news that its way is lost.
TEST(Router, AFrameThatComesBackIsNewsItself) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Grid grid(
        {.sizes = {1, 1, 1}, .gateways = {1, 2, 2}, .streams = 4, .delay = 50ms, .seed = seed});
    grid.send_many(400, 0, 2, kBulk);
    ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
    const std::size_t used = grid.crossed(2).empty() ? 3 : 2;
    grid.silence(used);
    grid.settle(60s);
    ASSERT_EQ(grid.failure(), "") << "seed " << seed;
    ASSERT_TRUE(grid.all_arrived()) << "seed " << seed;
    ASSERT_THAT(grid.came_back(0), IsEmpty()) << "its gateway has another link";
  }
}

TEST(Router, AGatewayThatDiesTakesNothingWithIt) {
  Grid grid({.sizes = {2, 2}, .gateways = {2, 2}});
  for (int i = 0; i < 400; ++i) {
    grid.send(i % 2, 2 + i / 2 % 2, kBulk);
    grid.send(2 + i % 2, i / 2 % 2, kBulk);
  }
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  grid.kill_gateway(0);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(grid.failure(), "");
  // Its own ranks know at once and send again what it had; those beyond get theirs back.
  EXPECT_GT(grid.sent_again(0) + grid.sent_again(1), 0U);
  EXPECT_THAT(grid.came_back(0), IsEmpty());
  EXPECT_GT(grid.came_back(2).size() + grid.came_back(3).size(), 0U);
}

TEST(Router, TheOnlyWayIsWaitedForWithinItsPatience) {
  Grid grid({});
  grid.send_many(200, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 10; }));
  grid.silence(0);
  grid.run(70s);
  EXPECT_EQ(grid.waits(0), 2) << "after 30 s and 60 s";
  grid.silence(0, false);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(grid.resumed(0), 1);
  EXPECT_EQ(grid.twice(), 0U);
  EXPECT_THAT(grid.came_back(0), IsEmpty());
  EXPECT_EQ(grid.failure(), "");
}

TEST(Router, SilencesAreLookedForOnlyWhenThereMayBeOne) {
  Grid grid({.gateways = {2, 2}});
  grid.run(60s);
  EXPECT_LE(grid.ticks(0), 60 / 2 + 1) << "pings go every 2.5 s, and a silence is one after 5";
  grid.silence(0);
  const int before = grid.ticks(0);
  grid.run(10s);
  EXPECT_GE(grid.ticks(0), before + 40) << "until it ends, or other ways are taken";
}

TEST(Router, BeyondItsPatienceTheJobEndsAndTheLinkIsNamed) {
  Grid grid({.patience = 60s});
  grid.send_many(200, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 10; }));
  const Time begin = grid.now();
  grid.silence(0);
  ASSERT_TRUE(grid.run_until([&] { return !grid.failure().empty(); }, 90s));
  EXPECT_GE(grid.now() - begin, 59s);
  EXPECT_THAT(grid.failure(), HasSubstr("cluster \"c0\""));
  EXPECT_THAT(grid.failure(), HasSubstr("has not been heard for 1 min (patience)"));
}

TEST(Router, OfSeveralWaysTheLastIsWaitedFor) {
  Grid grid({.gateways = {2, 2}, .patience = 60s});
  grid.send_many(600, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  grid.silence(0);
  grid.run(20s);
  EXPECT_EQ(grid.warnings(0).size(), 1U);
  grid.send_many(600, 0, 1, kBulk);
  grid.run(20ms);
  grid.silence(1);
  grid.run(40s);
  EXPECT_EQ(grid.failure(), "");
  EXPECT_FALSE(grid.all_arrived());
  grid.silence(1, false);
  ASSERT_TRUE(grid.settle(60s));
  grid.silence(1);
  ASSERT_TRUE(grid.run_until([&] { return !grid.failure().empty(); }, 90s));
  EXPECT_THAT(grid.failure(), HasSubstr("has not been heard for 1 min (patience)"));
}

TEST(Router, BothWaysSilentAtOnceAreBothWaitedFor) {
  Grid grid({.gateways = {2, 2}});
  grid.send_many(600, 0, 1, kBulk);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrived() > 100; }));
  grid.silence(0);
  grid.silence(1);
  grid.run(60s);
  EXPECT_THAT(grid.warnings(0), IsEmpty()) << "neither is another way for the other";
  EXPECT_THAT(grid.warnings(1), IsEmpty());
  grid.silence(0, false);
  grid.silence(1, false);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_THAT(grid.came_back(0), IsEmpty());
  EXPECT_EQ(grid.twice(), 0U);
}

// A rank that takes nothing holds back its senders, limited by the windows. Small messages pass
// others that wait, and all arrive once it goes on.
TEST(Router, ASlowReceiverIsBoundedByTheWindows) {
  constexpr std::size_t kRoom = 256 * 1024;
  Grid grid({.sizes = {1, 2}, .room = kRoom});
  grid.stall(1);
  grid.send_many(1000, 0, 1, kBulk);
  grid.run(5s);
  const std::size_t stuck = grid.arrived();
  EXPECT_LT(stuck * kBulk, kRoom + kBulk);
  const auto [frames, bytes] = grid.router(1).held();
  EXPECT_GT(frames, 0U);
  EXPECT_LE(bytes, kRoom);
  grid.run(5s);
  EXPECT_EQ(grid.arrived(), stuck);
  EXPECT_EQ(grid.router(1).held().second, bytes);
  grid.stall(1, false);
  ASSERT_TRUE(grid.settle(60s));
  EXPECT_EQ(grid.router(1).held().first, 0U);
}

TEST(Router, ASlowReceiverDoesNotHoldUpAnotherWhileTheLinkHasRoom) {
  Grid grid({.sizes = {1, 2}, .room = 4096 * 1024});
  grid.stall(1);
  grid.send_many(150, 0, 1, kBulk);  // more than a rank takes, less than the link's window too
  grid.run(1s);
  ASSERT_GT(grid.router(1).held().first, 0U);
  const std::size_t before = grid.arrivals(2).size();
  grid.send_many(50, 0, 2, 8);
  ASSERT_TRUE(grid.run_until([&] { return grid.arrivals(2).size() == before + 50; }, 1s));
  grid.stall(1, false);
  ASSERT_TRUE(grid.settle(60s));
}

}  // namespace
}  // namespace isthmus::core
