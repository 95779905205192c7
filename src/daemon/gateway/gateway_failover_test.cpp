// Links that are lost for good while the grid has other ways.
#include <future>
#include <thread>

#include "daemon/gateway/gateway_flood.hpp"
#include "daemon/gateway/gateway_proxy.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

// This is longer than the patience with a silent stream, as in a run. So processes know all silent
// streams before they give up one: a stopped machine silences all.
constexpr auto kFailover = 6s;

// Calls `cut` while frames are in transit, in its buffers, and waiting. That is when 500 kB have
// crossed the first link of gateway `gateway`, and far more is to come.
template <class F>
void cut_under_load(Testbed& bed, std::size_t gateway, F cut) {
  const auto crossed = [&] { return bed.counts(gateway).at(0).wire_bytes; };
  const auto before = crossed();
  std::thread cutter([&] {
    while (crossed() < before + 500'000) std::this_thread::sleep_for(100us);
    bed.on_io([&] { cut(); });
  });
  for (int i = 0; i < 3; ++i) flood(bed, 1);
  cutter.join();
}

std::uint64_t redirected(Testbed& bed, const std::vector<std::size_t>& gateways) {
  return bed.on_io([&] {
    std::uint64_t sum = 0;
    for (const std::size_t i : gateways) sum += bed.gateway(i).redirected();
    return sum;
  });
}

std::uint64_t sent_again(Testbed& bed) {
  std::uint64_t sum = 0;
  for (int r = 0; r < bed.world().size(); ++r) sum += bed.rank(r).sent_again();
  return sum;
}

TEST(Failover, OneOfTwoLinksBetweenTwoClusters) {
  Testbed bed({.sizes = {2, 2}, .gateways = {2, 2}, .patience = 20min, .failover = kFailover});
  const auto proxy = Proxy::make(bed, 2);
  bed.link_to(proxy->address(), 2);
  bed.start();
  cut_under_load(bed, 0, [&] { proxy->close(); });
  EXPECT_GT(redirected(bed, {0, 2}), 0U);
  EXPECT_GT(sent_again(bed), 0U);  // by the other gateway
  EXPECT_THAT(bed.warning(0), HasSubstr("the link from gateway 0 of cluster \"c0\" to gateway 0 of "
                                        "cluster \"c1\" (" +
                                        proxy->address() + ") is lost"));
  EXPECT_THAT(bed.warning(2), HasSubstr("other ways"));
  flood(bed, 1);
  bed.leave_well();
}

TEST(Failover, OneGatewayThatHasLostOneOfTwoPartners) {
  Testbed bed({.sizes = {2, 1}, .gateways = {1, 2}, .patience = 20min, .failover = kFailover});
  const auto proxy = Proxy::make(bed, 1);
  bed.link_to(proxy->address(), 1);
  bed.start();
  cut_under_load(bed, 0, [&] { proxy->close(); });
  EXPECT_GT(redirected(bed, {0}), 0U);
  EXPECT_THAT(bed.warning(0), HasSubstr("is lost"));
  bed.leave_well();
}

TEST(Failover, InTheMiddleOfAChain) {
  Testbed bed(
      {.sizes = {1, 1, 1}, .gateways = {1, 2, 2}, .patience = 20min, .failover = kFailover});
  const auto proxy = Proxy::make(bed, 3);
  bed.link_to(proxy->address(), 3);
  bed.start();
  cut_under_load(bed, 0, [&] { proxy->close(); });
  EXPECT_GT(redirected(bed, {1, 3}), 0U);
  EXPECT_THAT(bed.warning(1), HasSubstr("is lost"));
  flood(bed, 1);
  bed.leave_well();
}

// Some of a process's last message is with a gateway that dies while the process leaves.
TEST(Failover, WhatAGatewayHasWhenItDiesGoesByAnotherBeforeBye) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 1}, .ranks_by_tcp = true});
  const auto proxy = Proxy::make(bed, 1);
  bed.ranks_to(proxy->address(), 1);
  bed.start();
  bed.exchange(0, 1, 8);
  bed.on_io([&] { proxy->hold(true); });
  TestMessage message(0, 1, 128 << 10);  // in frames of which each gateway gets some
  bed.rank(1).recv(message.recv);
  bed.rank(0).send(message.send);
  bed.wait(0, message.send);
  std::future<void> leaving = std::async(std::launch::async, [&] { bed.rank(0).leave(); });
  EXPECT_EQ(leaving.wait_for(200ms), std::future_status::timeout);  // it says Bye too soon by then
  bed.on_io([&] {
    proxy->close();
    return 0;
  });
  bed.wait(1, message.recv);
  EXPECT_TRUE(message.is_right());
  leaving.get();
  bed.rank(1).leave();
  EXPECT_FALSE(bed.faulted(0));
  EXPECT_FALSE(bed.faulted(1));
}

TEST(Failover, TheLastWayThatIsLostEndsTheJob) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 2}, .patience = 4s, .failover = 2500ms});
  const auto first = Proxy::make(bed, 2), second = Proxy::make(bed, 3);
  bed.link_to(first->address(), 2);
  bed.link_to(second->address(), 3);
  bed.start();
  bed.on_io([&] { first->close(); });
  EXPECT_THAT(bed.warning(0), HasSubstr(first->address()));
  bed.exchange(0, 1, 1'000'000);
  EXPECT_FALSE(bed.faulted(0) || bed.faulted(1));
  bed.on_io([&] { second->close(); });
  EXPECT_THAT(bed.fault(0), HasSubstr("is lost"));
  EXPECT_THAT(bed.fault(1), HasSubstr("is lost"));
}

// The senders send again what it held and had acknowledged.
class LostGateway : public testing::TestWithParam<std::size_t> {};

TEST_P(LostGateway, IsReplacedByTheOthersOfItsCluster) {
  Testbed bed({.sizes = {2, 2}, .gateways = {2, 2}, .patience = 20min, .failover = kFailover});
  bed.start();
  const std::size_t victim = GetParam();
  cut_under_load(bed, victim, [&] { bed.gateway_dies(victim); });
  EXPECT_GT(sent_again(bed), 0U);
  EXPECT_THAT(bed.warning(victim == 0 ? 2 : 0), HasSubstr("is lost"));
  for (int i = 0; i < 2; ++i) flood(bed, 1);
  bed.leave_well();
}
INSTANTIATE_TEST_SUITE_P(AtEitherEnd, LostGateway, testing::Values(0, 2));

TEST(Failover, TheLastGatewayOfAClusterThatDiesEndsTheJob) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 2}, .patience = 20min, .failover = kFailover});
  bed.start();
  bed.on_io([&] { bed.gateway_dies(2); });
  bed.exchange(0, 1, 1'000'000);
  EXPECT_FALSE(bed.faulted(0) || bed.faulted(1));
  bed.on_io([&] { bed.gateway_dies(3); });
  EXPECT_THAT(bed.fault(1), HasSubstr("rank 1 has lost gateway 1 of cluster \"c1\""));
}

// An outage of all links: none is given up for another that is as silent.
TEST(Failover, WhereAllLinksAreSilentTheirPatienceCounts) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 2}, .patience = 4s, .failover = 2500ms});
  const auto first = Proxy::make(bed, 2), second = Proxy::make(bed, 3);
  bed.link_to(first->address(), 2);
  bed.link_to(second->address(), 3);
  bed.start();
  bed.exchange(0, 1, 1'000'000);
  const auto hold = [&](bool on) {
    bed.on_io([&] {
      first->hold(on);
      second->hold(on);
    });
  };
  hold(true);
  const auto silent = [&] {
    const auto counts = bed.counts(0);
    return !counts.empty() && counts[0].silence >= 3s;
  };
  while (!silent()) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(bed.faulted(0) || bed.faulted(1) || bed.warned(0) || bed.warned(1));
  hold(false);
  bed.exchange(0, 1, 1'000'000);
  bed.leave_well();
  bed.on_io([&] {
    first->close();
    second->close();
  });
}

}  // namespace
}  // namespace isthmus::daemon
