#include "core/world/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>

namespace isthmus::core {
namespace {

constexpr const char* kTwo =
    R"({"clusters":[{"name":"east","size":4},{"name":"west","size":2,"encrypt":false}],
        "gateways":[{"node":2147483648,"clusters":[0],"addresses":["unix:/run/a","tcp:h:1"]},
                    {"node":2147483649,"clusters":[1],"addresses":[]}]})";

TEST(World, SurvivesTheRoundTrip) {
  const World world = world_from_json(world_to_json(world_from_json(kTwo)));
  ASSERT_EQ(world.clusters.size(), 2U);
  EXPECT_EQ(world.size(), 6);
  EXPECT_EQ(world.clusters[1].name, "west");
  EXPECT_EQ(world.clusters[1].first, 4);
  EXPECT_TRUE(world.clusters[0].encrypt);
  EXPECT_FALSE(world.clusters[1].encrypt);
  ASSERT_EQ(world.gateways.size(), 2U);
  EXPECT_EQ(world.gateways[0].addresses, (std::vector<std::string>{"unix:/run/a", "tcp:h:1"}));
  EXPECT_EQ(world.gateways[1].node, kFirstGateway + 1);
}

TEST(World, KnowsWhereEachNodeIs) {
  const World world = world_from_json(kTwo);
  EXPECT_EQ(world.cluster_of(0), 0U);
  EXPECT_EQ(world.cluster_of(3), 0U);
  EXPECT_EQ(world.cluster_of(4), 1U);
  EXPECT_EQ(world.cluster_of_node(5), 1U);
  EXPECT_TRUE(world.gateway(kFirstGateway + 1)->serves(1));
  EXPECT_FALSE(world.gateway(kFirstGateway + 1)->serves(0));
  EXPECT_EQ(world.gateway(kFirstGateway + 2), nullptr);
  EXPECT_THROW(world.cluster_of_node(6), std::out_of_range);
  EXPECT_THROW(world.cluster_of_node(kFirstGateway + 1), std::out_of_range);
  EXPECT_THROW(world.cluster_of_node(kNobody), std::out_of_range);
}

TEST(World, KnowsWhichClustersNeedNoGateways) {
  World world = world_from_json(kTwo);
  EXPECT_FALSE(world.on_one_host());
  world.direct = {{.a = 0, .b = 1, .tcp = false, .shm = true}};
  world.links = {{.a = 1, .b = 0, .rate = 1e9, .rtt = 0.02}};
  world.named = {{"thin", 0, 1, true, {kFirstGateway, kFirstGateway + 1}}, {"fast", 0, 1}};
  const World again = world_from_json(world_to_json(world));
  ASSERT_EQ(again.named.size(), 2U);
  EXPECT_TRUE(again.named[0].direct);
  EXPECT_EQ(again.named[0].gateways, world.named[0].gateways);
  EXPECT_NE(again.choice_of("thin"), again.choice_of("fast"));
  ASSERT_EQ(again.links.size(), 1U);
  EXPECT_EQ(again.links[0].rate, 1e9);
  EXPECT_EQ(again.links[0].rtt, 0.02);
  ASSERT_EQ(again.direct.size(), 1U);
  EXPECT_FALSE(again.direct[0].tcp);
  EXPECT_TRUE(again.direct[0].shm);
  EXPECT_TRUE(again.on_one_host());
  world.clusters.push_back({"north", 6, 1});
  EXPECT_FALSE(world.on_one_host());
}

TEST(World, KnowsTheProcessesOfChannels) {
  World world = world_from_json(kTwo);
  world.channels = {{"some", "thin", {{0, {"n1", "n2"}, {"n3"}}, {.cluster = 1}}}, {"none"}};
  const World again = world_from_json(world_to_json(world));
  ASSERT_EQ(again.channels.size(), 2U);
  const GridChannel& some = again.channels[0];
  EXPECT_EQ(some.name, "some");
  EXPECT_EQ(some.link, "thin");
  EXPECT_TRUE(some.has(0, "n2") && some.has(0, "n1.site.org"));
  EXPECT_FALSE(some.has(0, "n3"));
  EXPECT_TRUE(some.has(1, "of any name"));
  EXPECT_THROW(static_cast<void>(some.has(0, "n4")), std::invalid_argument);
  EXPECT_FALSE(again.channels[1].has(0, "n1"));
}

TEST(World, NamesItsNodesForMessages) {
  World world = world_from_json(kTwo);
  EXPECT_EQ(world.name_of(5), "rank 5 (cluster \"west\")");
  EXPECT_EQ(world.name_of(kFirstGateway + 1), "the gateway of cluster \"west\"");
  world.gateways.push_back({kFirstGateway + 2, {1}, {}});
  EXPECT_EQ(world.name_of(kFirstGateway + 1), "gateway 0 of cluster \"west\"");
  EXPECT_EQ(world.name_of(kFirstGateway + 2), "gateway 1 of cluster \"west\"");
  EXPECT_EQ(world.name_of(6), "rank 6");
  EXPECT_EQ(world.name_of(kFirstGateway + 7), "gateway 7");
}

TEST(World, KnowsGatewaysThatStandInSeveralNetworks) {
  World world = world_from_json(kTwo);
  EXPECT_FALSE(world.has_spare_gateways());
  world.gateways = {{.node = kFirstGateway, .clusters = {0, 1}, .hops = {0, 0}},
                    {.node = kFirstGateway + 1, .clusters = {}, .hops = {1, 2}, .name = "middle"}};
  EXPECT_TRUE(world.has_spare_gateways()) << "one only forwards";
  world = world_from_json(world_to_json(world));
  EXPECT_TRUE(world.gateways[0].serves(0) && world.gateways[0].serves(1));
  EXPECT_EQ(world.gateways[1].hops, (std::vector<int>{1, 2}));
  EXPECT_EQ(world.name_of(kFirstGateway), "the gateway of clusters \"east\" and \"west\"");
  EXPECT_EQ(world.name_of(kFirstGateway + 1), "the gateway \"middle\"");
  EXPECT_EQ(world.label_of(kFirstGateway), "east+west/0");
  EXPECT_EQ(world.label_of(kFirstGateway + 1), "middle/0");
  world.gateways.pop_back();
  EXPECT_FALSE(world.has_spare_gateways());
  world.gateways.push_back({.node = kFirstGateway + 1, .clusters = {1}});
  EXPECT_TRUE(world.has_spare_gateways());
}

TEST(World, KnowsTheFormatOfEachCluster) {
  const World world = world_from_json(world_to_json(world_from_json(
      R"({"clusters":[{"name":"a","size":1,"arch":"x86_64","long_double":"64/16"},
                      {"name":"b","size":1,"arch":"aarch64","long_double":"113/16"},
                      {"name":"c","size":1,"byteorder":"big","long_double":"113/16"},
                      {"name":"d","size":1},
                      {"name":"e","size":1,"byteorder":"little","long_double":"106/16"}],
          "gateways":[]})")));
  const auto& [a, b, c, d, e] = std::tie(world.clusters[0], world.clusters[1], world.clusters[2],
                                         world.clusters[3], world.clusters[4]);
  EXPECT_EQ(b.arch, "aarch64");
  EXPECT_EQ(format_of(a).long_double, LongDouble::Extended);
  EXPECT_EQ(format_of(b).long_double, LongDouble::Quad);
  EXPECT_EQ(format_of(c), (Format{ByteOrder::Big, LongDouble::Quad}));
  EXPECT_EQ(format_of(d), own_format()) << "nothing is known of d";
  EXPECT_EQ(format_of(e), (Format{ByteOrder::Little, LongDouble::Other}));
  EXPECT_FALSE(long_double_is_lost(a, b));
  EXPECT_TRUE(long_double_is_lost(a, e));
  EXPECT_TRUE(long_double_is_lost(e, b));
  EXPECT_FALSE(long_double_is_lost(e, e));
  EXPECT_FALSE(long_double_is_lost(d, e)) << "nothing is known of d";
}

struct Wrong {
  const char* json;
  const char* names;
};

class WorldErrors : public testing::TestWithParam<Wrong> {};

TEST_P(WorldErrors, NameTheWrongKey) {
  try {
    world_from_json(GetParam().json);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().names));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WorldErrors,
    testing::Values(
        Wrong{"", "not JSON"}, Wrong{"[]", "not an object"}, Wrong{"{}", "\"clusters\""},
        Wrong{R"({"clusters":3})", "clusters is not a list"},
        Wrong{R"({"clusters":[]})", "clusters is empty"},
        Wrong{R"({"clusters":[{"size":1}]})", "clusters[0] lacks the key \"name\""},
        Wrong{R"({"clusters":[{"name":"","size":1}]})", "clusters[0].name is empty"},
        Wrong{R"({"clusters":[{"name":1,"size":1}]})", "clusters[0].name is not a text"},
        Wrong{R"({"clusters":[{"name":"a"}]})", "\"size\""},
        Wrong{R"({"clusters":[{"name":"a","size":0}]})", "clusters[0].size is 0"},
        Wrong{R"({"clusters":[{"name":"a","size":-1}]})", "clusters[0].size is -1"},
        Wrong{R"({"clusters":[{"name":"a","size":1.5}]})", "not a whole number"},
        Wrong{R"({"clusters":[{"name":"a","size":2147483647},{"name":"b","size":1}]})",
              "clusters[1].size is 1"},
        Wrong{R"({"clusters":[{"name":"a","size":1},{"name":"a","size":1}]})", "clusters[1].name"},
        Wrong{R"({"clusters":[{"name":"a","size":1}]})", "\"gateways\""},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[7]})", "gateways[0]"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":1,"clusters":[0],"addresses":[]}]})",
              "gateways[0].node is 1"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":2147483648,"clusters":[1],"addresses":[]}]})",
              "gateways[0].clusters is 1"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":2147483648,"clusters":[0,0],"addresses":[]}]})",
              "gateways[0].clusters names a cluster twice"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":2147483648,"clusters":[0],"addresses":[],"hops":[0,1]}]})",
              "gateways[0].hops does not have an entry for each cluster"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":2147483648,"clusters":[0],"addresses":[],"hops":[-1]}]})",
              "gateways[0].hops holds -1"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":2147483648,"clusters":[0],"addresses":[""]}]})",
              "gateways[0].addresses[0] is empty"},
        Wrong{R"({"clusters":[{"name":"a","size":1}],"gateways":[
                 {"node":2147483648,"clusters":[0],"addresses":[]},
                 {"node":2147483648,"clusters":[0],"addresses":[]}]})",
              "gateways[1].node"}));

}  // namespace
}  // namespace isthmus::core
