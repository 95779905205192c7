// Clusters that fail while the others go on.
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

void expect_no_fault(Testbed& bed, std::initializer_list<int> ranks) {
  for (const int rank : ranks) EXPECT_FALSE(bed.faulted(rank)) << rank;
}

TEST(GatewaySurvival, ARankThatVanishesIsSuspectedByItsOwnGateway) {
  Testbed bed({.sizes = {1, 1, 2}, .survives = true});
  bed.start();
  bed.kill(3);
  EXPECT_THAT(bed.suspicion(2, 2), HasSubstr("rank 3 (cluster \"c2\") ended without"));
  bed.exchange(0, 2, 100'000);
  bed.tell_failed(2);
  bed.exchange(0, 1, 100'000);
  bed.exchange(1, 0, 8);
  expect_no_fault(bed, {0, 1});
  for (const std::size_t i : {0, 1}) EXPECT_FALSE(bed.suspects(i, 2));
}

TEST(GatewaySurvival, BeforeAllHaveJoinedItIsAFault) {
  Testbed bed({.sizes = {2, 1}, .survives = true});
  ASSERT_EQ(bed.link(), "");
  auto join = std::async(std::launch::async, [&] { return failure_of_join(bed.config(1)); });
  while (bed.on_io([&] { return bed.gateway(0).attendance()[0].joined; }) != 1) {
    std::this_thread::sleep_for(1ms);
  }
  bed.on_io([&] { bed.gateway(1).fault("another failed", 1); });
  EXPECT_EQ(join.get(), "another failed");
}

TEST(GatewaySurvival, WhatIsUnderWayToAFailedClusterHoldsNobodyBack) {
  TestMessage lost(0, 2, std::size_t{32} << 20);
  Testbed bed({.sizes = {1, 1, 1}, .link_bytes = std::size_t{1} << 20, .survives = true});
  bed.start();
  bed.rank(2).recv(lost.recv);
  bed.rank(0).send(lost.send);
  bed.kill(2);
  EXPECT_NE(bed.suspicion(2, 2), "");
  bed.destroy_gateway(2);
  bed.tell_failed(2);
  for (int i = 0; i < 20; ++i) {
    bed.exchange(0, 1, std::size_t{1} << 20, i);
    bed.exchange(1, 0, 1000, i);
  }
  expect_no_fault(bed, {0, 1});
  bed.kill(0);
}

TEST(GatewaySurvival, AClusterThatIsNotReachedIsSuspectedByThoseBesideIt) {
  Testbed bed({.sizes = {1, 1, 1}, .patience = 500ms, .survives = true});
  bed.start();
  bed.destroy_gateway(1);
  EXPECT_THAT(bed.suspicion(0, 1), HasSubstr("the link from the gateway of cluster \"c0\" to the "
                                             "gateway of cluster \"c1\" (tcp:127.0.0.1:"));
  EXPECT_THAT(bed.suspicion(2, 1), HasSubstr("500 ms (patience)"));
  bed.tell_failed(1);
  EXPECT_NE(bed.suspicion(0, 2), "");
  EXPECT_NE(bed.suspicion(2, 0), "");
  expect_no_fault(bed, {0, 2});
}

TEST(GatewaySurvival, AGatewayThatClosesTooEarlyIsSuspected) {
  Testbed bed({.sizes = {1, 1}, .survives = true});
  bed.start();
  bed.on_io([&] { bed.gateway(0).close(nullptr); });
  EXPECT_THAT(bed.suspicion(1, 0), HasSubstr("closed while the program was still running"));
  expect_no_fault(bed, {1});
}

TEST(GatewaySurvival, TheOthersOfAFailedClusterAreSentAwayAndRefused) {
  Testbed bed({.sizes = {1, 2, 1}, .gateways = {0, 0, 0}, .bridges = 1, .survives = true});
  bed.start();
  bed.tell_failed(1);
  EXPECT_NE(bed.fault(1), "") << "it has lost its only gateway";
  EXPECT_THAT(failure_of_join(bed.config(2)), HasSubstr("cluster \"c1\" has failed"));
  bed.exchange(0, 3, 100'000);
  bed.exchange(3, 0, 8);
  expect_no_fault(bed, {0, 3});
}

TEST(GatewaySurvival, SeveralGatewaysOfACluster) {
  Testbed bed({.sizes = {1, 1, 1}, .gateways = {2, 2, 2}, .survives = true});
  bed.start();
  bed.exchange(0, 2, 1'000'000);
  bed.kill(2);
  bed.destroy_gateway(4);
  bed.destroy_gateway(5);
  bed.tell_failed(2);
  for (int i = 0; i < 10; ++i) bed.exchange(0, 1, 1'000'000, i);
  expect_no_fault(bed, {0, 1});
}

TEST(GatewaySurvival, AGatewayOfAFailedClusterIsRefused) {
  Testbed bed({.sizes = {1, 1}, .survives = true});
  bed.start();
  bed.on_io([&] { bed.gateway(1).failed(0, "it has failed"); });
  EXPECT_THAT(bed.rejected(1).get(), HasSubstr("its cluster has failed"));
  EXPECT_FALSE(bed.suspects(1, 0));
}

// The gateway has the news by another way, while it has not read the message.
TEST(GatewaySurvival, WhatHasComeFromAFailedClusterIsPassedOn) {
  TestMessage last(0, 1, 100);
  Testbed bed({.sizes = {1, 1}, .gateways = {0, 0}, .bridges = 1, .survives = true});
  bed.start();
  bed.exchange(0, 1, 8);
  bed.rank(1).recv(last.recv);
  bed.on_io([&] {
    bed.send_unread(0, last.send);
    bed.gateway(0).failed(0, "it has failed");
  });
  bed.wait(1, last.recv);
  EXPECT_EQ(last.recv.error, core::OpError::None);
  EXPECT_TRUE(last.is_right());
  EXPECT_NE(bed.fault(0), "") << "it has lost its only gateway";
  expect_no_fault(bed, {1});
}

TEST(GatewaySurvival, AnAbortThatHasComeIsHeardBeforeTheEndOfTheRanks) {
  Testbed bed({.sizes = {1, 1}, .survives = true});
  bed.start();
  bed.on_io([&] {
    bed.rank(0).abort(3, "enough");
    EXPECT_FALSE(bed.gateway_faulted(0));
    bed.gateway(0).read_come();
    EXPECT_TRUE(bed.gateway_faulted(0));
  });
  EXPECT_EQ(bed.gateway_fault(0), "abort 0 3 enough");
}

// Native launchers end all ranks when one aborts. The gateway may see the end of another first.
TEST(GatewaySurvival, AnAbortThatHasComeIsHeardBeforeAnotherRankIsMissed) {
  Testbed bed({.sizes = {2, 1}, .survives = true});
  bed.start();
  bed.on_io([&] {
    bed.kill(0);
    bed.rank(1).abort(3, "enough");
  });
  EXPECT_EQ(bed.gateway_fault(0), "abort 1 3 enough");
  bed.on_io([] { return 0; });
  EXPECT_FALSE(bed.suspects(0, 0));
}

// The native library gives it errors, since another rank has died.
TEST(GatewaySurvival, AnAbortInAClusterThatIsSuspectedEndsNobodyElse) {
  Testbed bed({.sizes = {2, 1}, .survives = true});
  ASSERT_EQ(bed.link(), "");
  bed.join();
  bed.kill(0);
  EXPECT_NE(bed.suspicion(0, 0), "");
  bed.rank(1).abort(3, "a native error");
  bed.tell_failed(0);
  expect_no_fault(bed, {2});
  EXPECT_FALSE(bed.gateway_faulted(0));
}

TEST(GatewaySurvival, AllHearThatAGatewayAgreesByWayOfARelay) {
  Testbed bed({.sizes = {1, 1, 1}, .relay = true, .survives = true});
  bed.start();
  bed.on_io([&] { bed.gateway(1).agree(Testbed::node(1)); });
  for (const std::size_t i : {0, 2, 3}) EXPECT_EQ(bed.agreement(i), Testbed::node(1)) << i;
}

TEST(GatewaySurvival, ARelayMayAsk) {
  Testbed bed({.sizes = {1, 1}, .relay = true, .survives = true});
  bed.start();
  bed.on_io([&] { bed.gateway(2).agree(Testbed::node(2)); });
  for (const std::size_t i : {0, 1}) EXPECT_EQ(bed.agreement(i), Testbed::node(2)) << i;
}

}  // namespace
}  // namespace isthmus::daemon
