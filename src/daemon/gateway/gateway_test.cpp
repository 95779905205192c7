
#include "daemon/gateway/gateway_flood.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

constexpr std::size_t kSizes[] = {0,        1,      8,      1000,    1024,     1025,
                                  65'535,   65'536, 65'537, 200'000, 1U << 20, (1U << 20) + 1,
                                  5'000'000};

TEST(Gateway, TwoRanksOfOneClusterMeet) {
  Testbed bed({.sizes = {2}});
  bed.start();
  for (const std::size_t size : kSizes) bed.exchange(0, 1, size);
  bed.leave_all();
}

class Paths : public testing::TestWithParam<std::tuple<bool, bool, int>> {
 protected:
  BedOptions options(std::vector<int> sizes) {
    BedOptions o;
    o.sizes = std::move(sizes);
    std::tie(o.encrypt, o.ranks_by_tcp, o.streams) = GetParam();
    return o;
  }
};

TEST_P(Paths, TwoClusters) {
  Testbed bed(options({1, 2}));
  bed.start();
  for (const std::size_t size : kSizes) {
    bed.exchange(0, 1, size);
    bed.exchange(2, 0, size);
  }
  bed.leave_well();
}

TEST_P(Paths, ThreeClustersInAChain) {
  Testbed bed(options({1, 1, 1}));
  bed.start();
  for (const std::size_t size : kSizes) {
    bed.exchange(0, 2, size);
    bed.exchange(2, 0, size);
    bed.exchange(1, 2, size);
  }
  bed.leave_all();
}

INSTANTIATE_TEST_SUITE_P(EncryptedOrNot, Paths,
                         testing::Values(std::tuple(true, false, 1), std::tuple(false, true, 1),
                                         std::tuple(true, true, 3)));

// All ranks of all clusters to each other; what goes to ranks of one cluster takes several
// gateways.
void exchange_all(Testbed& bed) {
  for (int from = 0; from < bed.world().size(); ++from) {
    for (int to = 0; to < bed.world().size(); ++to) {
      if (from == to) continue;
      for (const std::size_t size : {std::size_t{1}, std::size_t{300'000}}) {
        bed.exchange(from, to, size);
      }
    }
  }
}

TEST(SeveralGateways, TwoInEachOfTwoClusters) {
  Testbed bed({.sizes = {3, 2}, .gateways = {2, 2}});
  bed.start();
  exchange_all(bed);
  // Both pairs carried messages.
  for (std::size_t i = 0; i < 4; ++i) {
    const auto counts = bed.counts(i);
    ASSERT_EQ(counts.size(), 1U);
    EXPECT_GT(counts[0].messages, 0U) << i;
  }
  bed.leave_well();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(bed.on_io([&] { return bed.gateway(i).finished(); })) << i;
  }
}

TEST(SeveralGateways, NumbersThatDifferInAChain) {
  Testbed bed({.sizes = {2, 1, 3}, .gateways = {2, 1, 3}});
  bed.start();
  exchange_all(bed);
  bed.leave_well();
}

// Others would send to it by the way of either.
TEST(SeveralGateways, ARankThatReachesOnlyOneHasNotJoined) {
  Testbed bed({.sizes = {1, 1}, .gateways = {1, 2}});
  ASSERT_EQ(bed.link(), "");
  auto config = bed.config(1);
  config.world.gateways[2].addresses = {"unix:" + bed.folder() + "/nowhere"};
  try {
    net::Endpoint::join(std::move(config), {});
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("/nowhere"));
  }
  // The other gateway knows.
  EXPECT_THAT(bed.gateway_fault(1), HasSubstr("rank 1 cannot join the grid at gateway 1"));
  EXPECT_FALSE(bed.on_io([&] { return bed.gateway(1).joined(); }));
}

TEST(SeveralGateways, AMessageNamesTheOneThatIsLostLast) {
  Testbed bed({.sizes = {1, 1}, .gateways = {2, 2}});
  bed.start();
  bed.destroy_gateway(2);
  bed.destroy_gateway(3);
  // Which of the two its rank sees last is open.
  EXPECT_THAT(bed.fault(1),
              testing::ContainsRegex("rank 1 has lost gateway [01] of cluster \"c1\""));
}

TEST(Gateway, CountsWhatCrossesALink) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  for (int i = 0; i < 10; ++i) bed.exchange(0, 1, 100'000);
  const auto counts = bed.counts(0);
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].from, Testbed::node(0));
  EXPECT_EQ(counts[0].to, Testbed::node(1));
  EXPECT_EQ(counts[0].messages, 10U);
  EXPECT_EQ(counts[0].bytes, 1'000'000U);
  EXPECT_GE(counts[0].frames, 20U);
  EXPECT_GT(counts[0].wire_bytes, 1'000'000U);
  EXPECT_LT(counts[0].wire_bytes, 1'050'000U);
  bed.leave_all();
}

TEST(Gateway, FloodsInAllDirectionsAreDelivered) {
  Testbed bed({.sizes = {2, 2}});
  bed.start();
  flood(bed);
  bed.leave_all();
}

TEST(SeveralGateways, FloodsInAllDirectionsAreDelivered) {
  Testbed bed({.sizes = {2, 2}, .gateways = {2, 2}});
  bed.start();
  flood(bed);
  bed.leave_all();
}

TEST(Gateway, ATakenPortIsNamed) {
  Testbed bed({.sizes = {1}});
  const std::string taken = bed.addresses(0)[0];
  asio::io_context io;
  struct Nobody final : GatewayUser {
  } user;
  Gateway other(io, {}, user);
  try {
    other.listen({taken});
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot listen on " + taken));
    EXPECT_THAT(e.what(), HasSubstr("another program has port"));
  }
}

TEST(Gateway, FinishedWhenAllRanksHaveLeft) {
  Testbed bed({.sizes = {1, 1}});
  ASSERT_EQ(bed.link(), "");
  EXPECT_FALSE(bed.on_io([&] { return bed.gateway(0).joined(); }));
  bed.join();
  EXPECT_TRUE(bed.on_io([&] { return bed.gateway(0).joined(); }));
  EXPECT_FALSE(bed.on_io([&] { return bed.gateway(0).finished(); }));
  bed.leave_all();
  EXPECT_TRUE(bed.on_io([&] { return bed.gateway(0).finished(); }));
  // The gateways close one after the other; neither takes the other's goodbye for a fault.
  for (std::size_t i = 0; i < 2; ++i) {
    Awaited<bool> closed;
    bed.on_io([&] { bed.gateway(i).close([&] { closed.set(true); }); });
    EXPECT_TRUE(closed.get());
  }
}

}  // namespace
}  // namespace isthmus::daemon
