#include "core/router/direct_links.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

TEST(DirectLinks, AreThoseOfTheProcesssCluster) {
  World world;
  world.clusters = {{"a", 0, 2}, {"b", 2, 3}, {"c", 5, 4}, {"d", 9, 1}};
  world.direct = {{1, 0}, {1, 2}, {0, 2}};
  world.direct[2].shm = true;
  const DirectLinks links(world, 1);
  ASSERT_EQ(links.own().size(), 2U);
  EXPECT_EQ(links.to(2), &world.direct[0]);
  EXPECT_EQ(links.to(8), &world.direct[2]);
  EXPECT_EQ(links.to(0), nullptr) << "its own cluster";
  EXPECT_EQ(links.to(9), nullptr) << "no link";
  EXPECT_EQ(links.to(10), nullptr) << "nobody";
  EXPECT_EQ(links.to(kFirstGateway), nullptr);
  EXPECT_EQ(links.peers(true), 4);
  EXPECT_EQ(links.peers(false), 3);
  EXPECT_TRUE(DirectLinks(world, 9).own().empty());
}

}  // namespace
}  // namespace isthmus::core
