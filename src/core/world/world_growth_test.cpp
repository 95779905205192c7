#include <gtest/gtest.h>

#include <stdexcept>

#include "core/world/world.hpp"

namespace isthmus::core {
namespace {

World two() {
  return world_from_json(R"({"clusters":[{"name":"a","size":2},{"name":"b","size":3}],
    "gateways":[{"node":2147483648,"clusters":[0],"addresses":["unix:/a"],"hops":[0,1]},
                {"node":2147483649,"clusters":[1],"addresses":[],"hops":[1,0]}]})");
}

Growth added(std::size_t index, std::size_t like, int part) {
  return {index, like, {.name = "a/1", .size = 4, .part = part}};
}

TEST(WorldGrowth, ContinuesTheRanksAndSharesGateways) {
  World world = two();
  EXPECT_TRUE(world.grow(added(2, 1, 1)));
  EXPECT_EQ(world.size(), 9);
  EXPECT_EQ(world.first_size(), 5);
  EXPECT_EQ(world.cluster_of(5), 2U);
  EXPECT_EQ(world.clusters[2].first, 5);
  EXPECT_FALSE(world.gateways[0].serves(2));
  EXPECT_TRUE(world.gateways[1].serves(2));
  EXPECT_EQ(world.gateways[0].hops, (std::vector{0, 1, 1}));
}

TEST(WorldGrowth, ProcessesReachGatewaysAsThoseOfTheirClusterDo) {
  World world = two();
  world.clusters[1].net = Net::Auto;
  world.clusters[1].encrypt = false;
  world.grow(growth_from_json(growth_to_json(added(2, 1, 1))));
  EXPECT_EQ(world.clusters[2].net, Net::Auto);
  EXPECT_FALSE(world.clusters[2].encrypt);
  world.grow(added(3, 0, 2));
  EXPECT_TRUE(world.clusters[3].encrypt);
}

TEST(WorldGrowth, IsLearntOnceAndInOrder) {
  World world = two();
  EXPECT_THROW(world.grow(added(3, 0, 1)), std::invalid_argument);
  EXPECT_TRUE(world.grow(added(2, 0, 1)));
  EXPECT_FALSE(world.grow(added(2, 0, 1)));
  EXPECT_THROW(world.grow(added(3, 3, 1)), std::invalid_argument);
  EXPECT_EQ(world.size(), 9);
}

TEST(WorldGrowth, PartsAreNextToEachOther) {
  World world = two();
  world.grow(added(2, 0, 1));
  world.grow(added(3, 1, 1));
  world.grow(added(4, 0, 2));
  EXPECT_EQ(world.part(0).size(), 2U);
  ASSERT_EQ(world.part(1).size(), 2U);
  EXPECT_EQ(world.part(1).front().first, 5);
  EXPECT_EQ(world.part(2).size(), 1U);
  EXPECT_TRUE(world.part(3).empty());
}

TEST(WorldGrowth, TravelsAsJson) {
  const Growth read = growth_from_json(growth_to_json(added(2, 1, 7)));
  EXPECT_EQ(read.index, 2U);
  EXPECT_EQ(read.like, 1U);
  EXPECT_EQ(read.cluster.name, "a/1");
  EXPECT_EQ(read.cluster.size, 4);
  EXPECT_EQ(read.cluster.part, 7);
  for (const char* text : {"", "[]", "{}", R"({"index":-1,"like":0,"name":"x","size":1})"}) {
    EXPECT_THROW(growth_from_json(text), std::invalid_argument) << text;
  }
  World grown = two();
  grown.grow(added(2, 1, 7));
  EXPECT_EQ(world_from_json(world_to_json(grown)).clusters[2].part, 7);
}

TEST(WorldGrowth, AClusterMayHaveGatewaysOfItsOwn) {
  const NodeId node = kFirstGateway + 7;
  World world = two();
  world.add_gateway(node, "c");
  world.add_gateway(node, "c");
  ASSERT_EQ(world.gateways.size(), 3U);
  EXPECT_FALSE(world.has_spare_gateways());
  EXPECT_EQ(world.name_of(node), "the gateway \"c\"");
  Growth own{2, 0, {.name = "c/1", .size = 2, .part = 1, .net = Net::Auto, .encrypt = false}};
  own.gateways = {node};
  own.hops = {{kFirstGateway, 2}, {kFirstGateway + 1, 1}};
  const Growth read = growth_from_json(growth_to_json(own));
  EXPECT_TRUE(world.grow(read));
  EXPECT_TRUE(world.gateway(node)->serves(2));
  EXPECT_FALSE(world.gateways[0].serves(2));
  EXPECT_EQ(world.gateways[0].hops, (std::vector{0, 1, 2}));
  EXPECT_EQ(world.clusters[2].net, Net::Auto);
  EXPECT_FALSE(world.clusters[2].encrypt);
  EXPECT_TRUE(world.grow(added(3, 2, 2)));
  EXPECT_TRUE(world.gateway(node)->serves(3));
  EXPECT_TRUE(world_from_json(world_to_json(world)).gateway(node)->late);
}

TEST(WorldGrowth, GatewaysOfAClusterComeWithItForProcesses) {
  World world = two();
  Growth own{2, 0, {.name = "c/1", .size = 2, .part = 1}};
  own.gateways = {kFirstGateway + 2, kFirstGateway + 3};
  EXPECT_TRUE(world.grow(own));
  EXPECT_EQ(world.name_of(kFirstGateway + 3), "gateway 1 of cluster \"c/1\"");
}

TEST(WorldGrowth, WrongGatewaysAreRefused) {
  for (const char* gateways :
       {R"("gateways":[],"hops":[])", R"("gateways":[3],"hops":[])", R"("gateways":[2147483650])",
        R"("gateways":"x","hops":[])", R"("gateways":[2147483650],"hops":[[2147483648,-1]])"}) {
    const std::string text =
        std::string(R"({"index":2,"name":"x","size":1,"part":1,)") + gateways + "}";
    EXPECT_THROW(growth_from_json(text), std::invalid_argument) << text;
  }
}

TEST(WorldGrowth, GuestsHaveNumbersOfTheirOwnRunAndNoGatewayHere) {
  World world = two();
  Growth guests{2, 1, {.name = "x@job-2", .size = 3, .part = 1, .run = "job-2", .there = 10}};
  const Growth read = growth_from_json(growth_to_json(guests));
  EXPECT_EQ(read.cluster.run, "job-2");
  EXPECT_EQ(read.cluster.there, 10);
  EXPECT_TRUE(world.grow(read));
  EXPECT_FALSE(world.gateways[1].serves(2));
  EXPECT_EQ(world.gateways[1].hops, (std::vector{1, 0, 1}));
  EXPECT_EQ(world.gateways[0].hops, (std::vector{0, 1, 2}));
  EXPECT_EQ(world.guest("job-2", 12), std::optional<NodeId>(7));
  EXPECT_FALSE(world.guest("job-2", 13));
  EXPECT_FALSE(world.guest("job-2", 9));
  EXPECT_FALSE(world.guest("job-3", 12));
  const World again = world_from_json(world_to_json(world));
  EXPECT_EQ(again.guest("job-2", 10), std::optional<NodeId>(5));
}

}  // namespace
}  // namespace isthmus::core
