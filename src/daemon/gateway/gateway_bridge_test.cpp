// Gateways that stand in the networks of two clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/gateway/gateway_flood.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Bridge, OneGatewayServesTwoClusters) {
  Testbed bed({.sizes = {2, 1}, .gateways = {0, 0}, .bridges = 1});
  bed.start();
  for (const std::size_t size : {0, 8, 70'000, 3'000'000}) {
    bed.exchange(0, 2, size);
    bed.exchange(2, 1, size);
  }
  const auto there = bed.on_io([&] { return bed.gateway(0).attendance(); });
  ASSERT_THAT(there, SizeIs(2));
  EXPECT_EQ(there[0].joined, 2);
  EXPECT_EQ(there[1].joined, 1);
  const auto crossings = bed.on_io([&] { return bed.gateway(0).crossings(); });
  EXPECT_EQ(crossings.at({0, 1}).messages, 4U);
  EXPECT_EQ(crossings.at({1, 0}).messages, 4U);
  EXPECT_GE(crossings.at({0, 1}).bytes, 3'070'008U);
  bed.leave_all();
  EXPECT_TRUE(bed.on_io([&] { return bed.gateway(0).finished(); }));
}

TEST(Bridge, ARankOfEitherThatDiesEndsTheJobForBoth) {
  Testbed bed({.sizes = {1, 2}, .gateways = {0, 0}, .bridges = 1});
  bed.start();
  bed.kill(2);
  EXPECT_THAT(bed.fault(0), HasSubstr("rank 2 (cluster \"c1\") ended without MPI_Finalize"));
  EXPECT_THAT(bed.fault(1), HasSubstr("rank 2"));
}

TEST(Bridge, OneOfTwoMayDieUnderLoad) {
  Testbed bed({.sizes = {2, 2}, .gateways = {0, 0}, .bridges = 2});
  bed.start();
  for (int i = 0; i < 2; ++i) flood(bed, 1);
  bed.destroy_gateway(0);
  for (int i = 0; i < 2; ++i) flood(bed, 1);
  bed.leave_well();
}

TEST(Bridge, TheLastThatDiesEndsTheJob) {
  Testbed bed({.sizes = {1, 1}, .gateways = {0, 0}, .bridges = 1});
  bed.start();
  bed.destroy_gateway(0);
  EXPECT_THAT(bed.fault(0), HasSubstr("has lost the gateway of clusters \"c0\" and \"c1\""));
  EXPECT_THAT(bed.fault(1), HasSubstr("has lost the gateway of clusters \"c0\" and \"c1\""));
}

}  // namespace
}  // namespace isthmus::daemon
