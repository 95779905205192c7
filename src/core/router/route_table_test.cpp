#include "core/router/route_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RouteTable, ANeighbourLeadsWhereItIsOnARoute) {
  RouteTable table;
  table.add(1, {100});
  EXPECT_FALSE(table.several_ways());
  table.add(2, {100, 101});
  EXPECT_TRUE(table.several_ways());
  EXPECT_THAT(table.clusters_by(100), ElementsAre(1, 2));
  EXPECT_THAT(table.clusters_by(101), ElementsAre(2));
  EXPECT_FALSE(table.leads(101, 1));
  EXPECT_THAT(table.to(3), IsEmpty());
}

TEST(RouteTable, AReportEndsAWayUntilTheNeighbourRestarts) {
  RouteTable table;
  table.add(1, {100, 101});
  EXPECT_TRUE(table.lose(100, 1));
  EXPECT_TRUE(table.cut_off(101, 1, 7));
  EXPECT_FALSE(table.cut_off(101, 1, 7)) << "it is known";
  EXPECT_FALSE(table.leads(100, 1));
  EXPECT_FALSE(table.leads(101, 1, 7));
  EXPECT_TRUE(table.leads(101, 1, 8));
  table.forget(100);
  EXPECT_TRUE(table.leads(100, 1));
  EXPECT_FALSE(table.whole());
  table.forget(101);
  EXPECT_TRUE(table.whole());
}

TEST(RouteTable, AReportFromOutsideTheRouteChangesNothing) {
  RouteTable table;
  table.add(1, {100});
  EXPECT_FALSE(table.lose(101, 1));
  EXPECT_FALSE(table.cut_off(101, 1, 7));
  EXPECT_FALSE(table.lose(100, 2));
  EXPECT_TRUE(table.whole());
}

TEST(RouteTable, AnAddedClusterHasTheReportsOfTheOneItIsLike) {
  RouteTable table;
  table.add(1, {100, 101});
  table.lose(100, 1);
  table.add_like(2, 1);
  EXPECT_FALSE(table.leads(100, 2));
  EXPECT_TRUE(table.leads(101, 2));
  table.add_like(4, 3);
  EXPECT_THAT(table.clusters_by(101), ElementsAre(1, 2));
}

}  // namespace
}  // namespace isthmus::core
