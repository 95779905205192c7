// The cost model's choices for the collectives that move blocks, and for scans.
#include <gtest/gtest.h>

#include "coll/engine/choose.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

std::string_view chosen(Kind kind, const Shape& shape, const Network& network,
                        std::optional<std::size_t> bytes, bool commutative = true) {
  const Layout layout(shape);
  return choose({layout, network, {kind, bytes, commutative}}, Forced{}).algorithm->name;
}

Shape blocks(std::size_t members) {
  Shape shape(members, 0);
  shape.insert(shape.end(), members, 1);
  return shape;
}

Shape dealt(std::size_t members) {
  Shape shape;
  for (std::size_t i = 0; i < 2 * members; ++i) shape.push_back(static_cast<int>(i % 2));
  return shape;
}

/// Links of 100 Mbit/s, 10 ms apart, each rank with its own way out.
Network slow_links() {
  Network network;
  network.wan_latency = 10e-3;
  network.wan_bandwidth = 117e6;
  network.link_bandwidth = 11.9e6;
  return network;
}

constexpr std::size_t kLong = std::size_t{16} << 20;

TEST(ChoiceOfBlocks, LongMessagesGoOverAllLinks) {
  const Network network = slow_links();
  EXPECT_EQ(chosen(Kind::Allgather, blocks(8), network, kLong), "intervals");
  EXPECT_EQ(chosen(Kind::ReduceScatter, blocks(8), network, kLong), "intervals");
  EXPECT_EQ(chosen(Kind::Gather, blocks(8), network, kLong), "direct");
  EXPECT_EQ(chosen(Kind::Scatter, blocks(8), network, kLong), "direct");
  EXPECT_EQ(chosen(Kind::Alltoall, blocks(8), network, kLong), "direct");
  EXPECT_EQ(chosen(Kind::Scan, blocks(8), network, kLong), "chain");
}

TEST(ChoiceOfBlocks, VeryShortOnesFanOutToFewRanks) {
  const Network network = slow_links();
  for (const Kind kind : {Kind::Barrier, Kind::Allgather, Kind::Alltoall, Kind::Allreduce,
                          Kind::ReduceScatter, Kind::Scan, Kind::Exscan}) {
    const bool of_all = kind == Kind::Allgather || kind == Kind::Alltoall;
    const std::size_t bytes = kind == Kind::Barrier ? 0 : of_all ? 16 * 8 : 8;
    EXPECT_EQ(chosen(kind, blocks(8), network, bytes), "fan") << name_of(kind);
    EXPECT_NE(chosen(kind, blocks(500), network, of_all ? 1000 * 8 : bytes), "fan")
        << name_of(kind);
    if (kind == Kind::Barrier) continue;
    EXPECT_NE(chosen(kind, blocks(8), network, kLong), "fan") << name_of(kind);
  }
}

TEST(ChoiceOfBlocks, ManySmallBlocksAreCombined) {
  const Network network;
  EXPECT_EQ(chosen(Kind::Alltoall, blocks(500), network, 1000 * 8), "combined");
  EXPECT_EQ(chosen(Kind::Gather, blocks(500), network, 1000 * 8), "magpie");
  // Unless their sizes are unknown.
  EXPECT_EQ(chosen(Kind::Alltoall, blocks(500), network, std::nullopt), "direct");
  EXPECT_EQ(chosen(Kind::Gather, blocks(500), network, std::nullopt), "direct");
}

TEST(ChoiceOfBlocks, OrderIsKeptWhereClustersInterleave) {
  const Network network = slow_links();
  EXPECT_EQ(chosen(Kind::ReduceScatter, dealt(8), network, kLong, true), "intervals");
  EXPECT_EQ(chosen(Kind::ReduceScatter, dealt(8), network, kLong, false), "direct");
  EXPECT_EQ(chosen(Kind::Scan, dealt(8), network, 200'000), "transpose");
}

TEST(ChoiceOfBlocks, GatewaysShareTheWayOut) {
  Network network;
  network.paths = 1;
  EXPECT_EQ(chosen(Kind::Barrier, blocks(500), network, 0), "magpie");
  network.paths = 0;
  EXPECT_EQ(chosen(Kind::Barrier, blocks(500), network, 0), "counterparts");
}

}  // namespace
}  // namespace isthmus::coll
