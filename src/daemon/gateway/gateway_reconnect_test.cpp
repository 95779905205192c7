// Connections of ranks to their gateways on other hosts, which the network cuts.
#include <atomic>
#include <thread>

#include "daemon/gateway/gateway_flood.hpp"
#include "daemon/gateway/gateway_proxy.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class Reconnect : public testing::Test {
 protected:
  explicit Reconnect(BedOptions options = {.sizes = {1, 1}, .ranks_by_tcp = true})
      : bed(std::move(options)), proxy(Proxy::make(bed, 0)) {
    bed.ranks_to(proxy->address(), 0);
  }
  void SetUp() override { bed.start(); }
  int connections() {
    return bed.on_io([&] { return proxy->connections(); });
  }

  Testbed bed;
  std::shared_ptr<Proxy> proxy;
};

TEST_F(Reconnect, ACutConnectionIsMadeAnewAndNothingIsLost) {
  std::atomic<bool> done{false};
  int cuts = 0;
  std::thread cutter([&] {
    while (!done) {
      const auto crossed = [&] { return bed.counts(0).at(0).wire_bytes; };
      const auto before = crossed();
      while (!done && crossed() < before + 500'000) std::this_thread::sleep_for(1ms);
      bed.on_io([&] { proxy->cut(); });
      ++cuts;
    }
  });
  for (int i = 0; i < 3; ++i) flood(bed, 1);
  done = true;
  cutter.join();
  EXPECT_GT(cuts, 2);
  EXPECT_GT(connections(), 2);
  for (int r = 0; r < 2; ++r) EXPECT_FALSE(bed.faulted(r));
  bed.leave_all();
}

TEST_F(Reconnect, AnIdleRankIsReachedAgain) {
  bed.on_io([&] { proxy->cut(); });
  bed.exchange(1, 0, 1'000'000);
  bed.exchange(0, 1, 1'000'000);
  EXPECT_EQ(connections(), 2);
  bed.leave_well();
}

TEST_F(Reconnect, ARankThatCannotReconnectEndsTheJob) {
  bed.on_io([&] { proxy->close(); });
  // A reset, where the proxy had not read the last acknowledgement.
  const std::string lost = "rank 0 has lost the gateway of cluster \"c0\" (" + proxy->address();
  EXPECT_THAT(bed.fault(0), AnyOf(HasSubstr(lost + "): it closed the connection; "),
                                  HasSubstr(lost + "): Connection reset by peer; ")));
  EXPECT_THAT(bed.fault(1), HasSubstr("rank 0 (cluster \"c0\") ended without MPI_Finalize"));
}

TEST_F(Reconnect, ARankThatIsKilledOnAnotherHostIsNamed) {
  bed.kill(0);
  EXPECT_THAT(bed.fault(1), HasSubstr("rank 0 (cluster \"c0\") ended without MPI_Finalize"));
}

TEST_F(Reconnect, AnotherProcessDoesNotTakeItsPlace) {
  try {
    net::Endpoint::join(bed.config(0), [](const std::string&, int) {});
    FAIL() << "joined";
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("rank 0 has joined already"));
  }
  bed.exchange(0, 1, 100);
  bed.leave_all();
}

class ReconnectWithSpare : public Reconnect {
 protected:
  ReconnectWithSpare() : Reconnect({.sizes = {2, 1}, .gateways = {2, 2}, .ranks_by_tcp = true}) {}
};

TEST_F(ReconnectWithSpare, TheConduitOfOneOfTwoGatewaysGoesOn) {
  for (int i = 0; i < 3; ++i) {
    std::thread cutter([&] { bed.on_io([&] { proxy->cut(); }); });
    flood(bed, 1);
    cutter.join();
  }
  EXPECT_EQ(bed.rank(0).sent_again(), 0U) << "the conduit was lost, not only its stream";
  for (int r = 0; r < 2; ++r) EXPECT_FALSE(bed.faulted(r));
  bed.leave_all();
}

// No link leads from the one gateway to the other: the news that it lives goes by the ranks.
TEST_F(ReconnectWithSpare, RanksThatCannotReconnectGoOnByTheOtherGateway) {
  flood(bed, 1);
  bed.on_io([&] { proxy->close(); });
  EXPECT_THAT(bed.warning(0),
              HasSubstr("(cluster \"c0\") is lost: it goes on without this gateway; "
                        "what it carried goes other ways"));
  for (int i = 0; i < 2; ++i) flood(bed, 1);
  bed.leave_well();
}

class ReconnectToBridge : public Reconnect {
 protected:
  ReconnectToBridge()
      : Reconnect({.sizes = {1, 1}, .gateways = {0, 0}, .bridges = 2, .ranks_by_tcp = true}) {}
};

// It was stopped, or cut off from its ranks. They live, though they have closed its connections,
// and nobody else can tell it.
TEST_F(ReconnectToBridge, OneThatComesBackDoesNotEndTheJob) {
  flood(bed, 1);
  bed.on_io([&] {
    proxy->hold(true);
    proxy->cut_front();
  });
  while (connections() < 6) flood(bed, 1);  // both ranks have given it up, and look for it
  EXPECT_FALSE(bed.warned(0));
  bed.on_io([&] {
    proxy->cut();
    proxy->hold(false);
  });
  EXPECT_TRUE(bed.abandoned(0));
  EXPECT_THAT(bed.warning(0), HasSubstr("goes on without this gateway"));
  flood(bed, 1);
  bed.leave_well();
}

}  // namespace
}  // namespace isthmus::daemon
