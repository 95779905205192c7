// Links that are lost for good while the grid has other ways.
#include <thread>

#include "daemon/gateway_flood.hpp"
#include "daemon/gateway_proxy.hpp"
#include "daemon/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

// The link goes while frames are on it, in its buffers, and waiting before them.
void cut_under_load(Testbed& bed, std::vector<std::shared_ptr<Proxy>> proxies) {
  std::thread cutter([&] {
    std::this_thread::sleep_for(30ms);
    bed.on_io([&] {
      for (const auto& proxy : proxies) proxy->close();
      return 0;
    });
  });
  for (int i = 0; i < 3; ++i) flood(bed, 1);
  cutter.join();
}

TEST(Failover, OneOfTwoLinksBetweenTwoClusters) {
  Testbed bed({.sizes = {2, 2}, .gateways = {2, 2}, .patience = 20min, .failover = 1s});
  const auto proxy = Proxy::make(bed, 2);
  bed.link_to(proxy->address(), 2);
  ASSERT_EQ(bed.link(), "");
  bed.join();
  cut_under_load(bed, {proxy});
  EXPECT_THAT(bed.warning(0), HasSubstr("the link from gateway 0 of cluster \"c0\" to gateway 0 of "
                                        "cluster \"c1\" (" +
                                        proxy->address() + ") is lost"));
  EXPECT_THAT(bed.warning(2), HasSubstr("other ways"));
  flood(bed, 1);
  bed.leave_all();
  for (int r = 0; r < 4; ++r) EXPECT_FALSE(bed.faulted(r));
}

TEST(Failover, OneGatewayThatHasLostOneOfTwoPartners) {
  Testbed bed({.sizes = {2, 1}, .gateways = {1, 2}, .patience = 20min, .failover = 1s});
  const auto proxy = Proxy::make(bed, 1);
  bed.link_to(proxy->address(), 1);
  ASSERT_EQ(bed.link(), "");
  bed.join();
  cut_under_load(bed, {proxy});
  EXPECT_THAT(bed.warning(0), HasSubstr("is lost"));
  bed.leave_all();
  for (int r = 0; r < 3; ++r) EXPECT_FALSE(bed.faulted(r));
}

TEST(Failover, InTheMiddleOfAChain) {
  Testbed bed({.sizes = {1, 1, 1}, .gateways = {1, 2, 2}, .patience = 20min, .failover = 1s});
  const auto proxy = Proxy::make(bed, 3);
  bed.link_to(proxy->address(), 3);
  ASSERT_EQ(bed.link(), "");
  bed.join();
  cut_under_load(bed, {proxy});
  EXPECT_THAT(bed.warning(1), HasSubstr("is lost"));
  flood(bed, 1);
  bed.leave_all();
  for (int r = 0; r < 3; ++r) EXPECT_FALSE(bed.faulted(r));
}

TEST(Failover, TheLastWayThatIsLostEndsTheJob) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 2}, .patience = 4s, .failover = 1s});
  const auto first = Proxy::make(bed, 2), second = Proxy::make(bed, 3);
  bed.link_to(first->address(), 2);
  bed.link_to(second->address(), 3);
  ASSERT_EQ(bed.link(), "");
  bed.join();
  bed.on_io([&] {
    first->close();
    return 0;
  });
  EXPECT_THAT(bed.warning(0), HasSubstr(first->address()));
  bed.exchange(0, 1, 1'000'000);
  EXPECT_FALSE(bed.faulted(0) || bed.faulted(1));
  bed.on_io([&] {
    second->close();
    return 0;
  });
  EXPECT_THAT(bed.fault(0), HasSubstr("is lost"));
  EXPECT_THAT(bed.fault(1), HasSubstr("is lost"));
}

// An outage of all links: none is given up for another that is as silent.
TEST(Failover, WhereAllLinksAreSilentTheirPatienceCounts) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 2}, .patience = 4s, .failover = 2500ms});
  const auto first = Proxy::make(bed, 2), second = Proxy::make(bed, 3);
  bed.link_to(first->address(), 2);
  bed.link_to(second->address(), 3);
  ASSERT_EQ(bed.link(), "");
  bed.join();
  bed.exchange(0, 1, 1'000'000);
  const auto hold = [&](bool on) {
    bed.on_io([&] {
      first->hold(on);
      second->hold(on);
      return 0;
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
  bed.leave_all();
  for (int r = 0; r < 2; ++r) EXPECT_FALSE(bed.faulted(r));
  bed.on_io([&] {
    first->close();
    second->close();
    return 0;
  });
}

}  // namespace
}  // namespace isthmus::daemon
