#include "coll/engine/room.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "coll/engine/choose.hpp"
#include "coll/engine/network.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

/// Runs with a clock that advances by `step` seconds at every look.
std::optional<Room> seen_with(double step, std::uint64_t seed) {
  MemoryGrid grid(std::vector<int>{0, 0, 1, 1, 1, 2}, seed);
  double now = 0;
  const Clock clock = [&] { return now += step; };
  std::vector<std::optional<Room>> rooms(6);
  grid.run([&](Party& party) {
    return look_for_one_room(party, clock, rooms[static_cast<std::size_t>(party.rank())]);
  });
  for (std::size_t rank = 1; rank < rooms.size(); ++rank) EXPECT_FALSE(rooms[rank]) << rank;
  return rooms.front();
}

TEST(Room, IsSeenWhereRoundTripsAreShort) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::optional<Room> room = seen_with(20e-6, seed);
    ASSERT_TRUE(room);
    EXPECT_GT(room->bandwidth, 0);
  }
}

TEST(Room, IsNotSeenWhereTheyAreLong) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_FALSE(seen_with(1100e-6, seed));
}

int crossings_with(double step) {
  MemoryGrid grid(std::vector<int>{0, 1, 2}, 1);
  double now = 0;
  const Clock clock = [&] { return now += step; };
  std::optional<Room> rooms[3];
  grid.run([&](Party& party) { return look_for_one_room(party, clock, rooms[party.rank()]); });
  return grid.crossings();
}

// Two trips of three messages to the first leader that is far, and a word to each that all is over.
TEST(Room, FarClustersCostTwoRoundTrips) { EXPECT_EQ(crossings_with(50e-3), 2 * 3 + 2); }

TEST(Room, LongVectorsGoWholeOnFastWires) {
  const Layout layout(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  const Network fast = Network::of_one_room(1e9);
  for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{1} << 20}) {
    for (const Kind kind : {Kind::Bcast, Kind::Reduce, Kind::Allreduce}) {
      const Choice choice = choose({layout, fast, {kind, bytes, true}}, {});
      EXPECT_FALSE(choice.algorithm->heeds.segment) << choice.algorithm->name << " " << bytes;
    }
  }
}

// Each message wakes a process: the 56 messages of 8 ranks take longer than 20 by leaders.
TEST(Room, ShortBlocksGoByLeaders) {
  const Layout layout(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  const Network fast = Network::of_one_room(1e9);
  const auto chosen = [&](std::size_t block) {
    return choose({layout, fast, {Kind::Alltoall, 8 * block, true}}, {}).algorithm->name;
  };
  EXPECT_EQ(chosen(8), "fan");
  EXPECT_EQ(chosen(1024), "fan");
  EXPECT_EQ(chosen(std::size_t{16} << 10), "direct");
}

TEST(Room, SlowWiresAreTakenForThatByEveryRunAlike) {
  EXPECT_EQ(Network::of_one_room(50e6).link_bandwidth, Network::of_one_room(120e6).link_bandwidth);
  EXPECT_EQ(Network::of_one_room(1e9).link_bandwidth, Network::of_one_room(8e9).link_bandwidth);
  EXPECT_LT(Network::of_one_room(120e6).link_bandwidth, Network::of_one_room(1e9).link_bandwidth);
}

}  // namespace
}  // namespace isthmus::coll
