#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/world/world.hpp"

namespace isthmus::core {
namespace {

using testing::ElementsAre;

World mapped(const std::string& east, const std::string& west) {
  return world_from_json(R"({"clusters":[{"name":"east","size":4,"ranks":")" + east +
                         R"("},{"name":"west","size":2,"ranks":")" + west +
                         R"("}],"gateways":[]})");
}

TEST(WorldRanks, AreTheNodesWithoutAMap) {
  const World world = mapped("", "");
  EXPECT_EQ(world.rank_of(5), 5);
  EXPECT_EQ(world.group_of(0).compare(Group::range(0, 6)), Likeness::Identical);
}

TEST(WorldRanks, AreWhatAMapSays) {
  const World world = world_from_json(world_to_json(mapped("0,2-4", "1,5")));
  EXPECT_EQ(world.rank_of(1), 2);
  EXPECT_EQ(world.rank_of(4), 1);
  EXPECT_EQ(world.rank_of(6), 6) << "of no process";
  EXPECT_EQ(world.name_of(4), "rank 1 (cluster \"west\")");
  EXPECT_THAT(world.group_of(0).nodes(), ElementsAre(0, 4, 1, 2, 3, 5));
}

TEST(WorldRanks, AreNodesInWhatIsSpawned) {
  World world = mapped("0,2-4", "1,5");
  world.grow({.index = 2, .like = 0, .cluster = {.name = "east/1", .size = 3, .part = 1}});
  EXPECT_EQ(world.rank_of(7), 7);
  EXPECT_THAT(world.group_of(1).nodes(), ElementsAre(6, 7, 8));
  EXPECT_THAT(world.group_of(0).nodes(), ElementsAre(0, 4, 1, 2, 3, 5));
}

TEST(WorldRanks, ArePermutations) {
  EXPECT_THROW(mapped("0-3", ""), std::invalid_argument) << "of one cluster only";
  EXPECT_THROW(mapped("0-3", "3-4"), std::invalid_argument) << "twice";
  EXPECT_THROW(mapped("0-3", "4"), std::invalid_argument) << "too few";
  EXPECT_THROW(mapped("0-3", "4-6"), std::invalid_argument) << "too many";
  EXPECT_THROW(mapped("0-3", "4,6"), std::invalid_argument) << "of no process";
  EXPECT_THROW(mapped("0-2,5", "4,3"), std::invalid_argument) << "in no order";
}

}  // namespace
}  // namespace isthmus::core
