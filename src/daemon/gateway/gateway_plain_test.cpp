// Clusters whose ranks and gateways do not encrypt, over the host's own address: loopback is never
// held to encryption.
#include "daemon/gateway/gateway_testbed.hpp"
#include "net/door/host_addresses.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

class PlainLegs : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& address : net::host_addresses(1)) {
      if (address.find('[') != std::string::npos) continue;
      host_ = address.substr(4, address.rfind(':') - 4);
      return;
    }
    GTEST_SKIP() << "this host has no address but loopback's";
  }

  BedOptions options(std::vector<std::size_t> plain) const {
    return {.sizes = {1, 1}, .ranks_by_tcp = true, .host = host_, .plain = std::move(plain)};
  }

  static int plain(Testbed& bed, std::size_t gateway, std::size_t cluster) {
    return bed.on_io([&] { return bed.gateway(gateway).near().at(cluster).plain; });
  }

  std::string host_;
};

TEST_F(PlainLegs, AreThoseOfTheirClusterAlone) {
  Testbed bed(options({0}));
  bed.start();
  bed.exchange(0, 1, 300'000);
  bed.exchange(1, 0, 300'000);
  EXPECT_EQ(plain(bed, 0, 0), 1);
  EXPECT_EQ(plain(bed, 1, 1), 0);
  bed.leave_all();
}

TEST_F(PlainLegs, AreRefusedWhereTheirClusterEncrypts) {
  Testbed bed(options({1}));
  ASSERT_EQ(bed.link(), "");
  auto config = bed.config(0);
  config.world.clusters[0].encrypt = false;
  EXPECT_THAT(failure_of_join(config),
              HasSubstr("serves only encrypted connections from other hosts; `encrypt` of "
                        "[cluster.c0] must be the same on both sides"));
  EXPECT_THAT(bed.rejected(0).get(), HasSubstr("asked for an unencrypted connection"));
}

// Its listener lets both in, so who has said Hello is held to their own cluster's key.
TEST_F(PlainLegs, AreRefusedByTheGatewayOfAnotherThatHasThem) {
  BedOptions bridged = options({0});
  bridged.gateways = {0, 0};
  bridged.bridges = 1;
  Testbed bed(bridged);
  ASSERT_EQ(bed.link(), "");
  auto config = bed.config(1);
  config.world.clusters[1].encrypt = false;
  EXPECT_THAT(failure_of_join(config), HasSubstr("`encrypt` of [cluster.c1] must be the same"));
  EXPECT_THAT(bed.rejected(0).get(), HasSubstr("`encrypt` of [cluster.c1]"));
}

TEST_F(PlainLegs, AreNoneOfALink) {
  BedOptions unlike = options({1});
  unlike.encrypt = false;
  Testbed bed(unlike);
  EXPECT_THAT(bed.link(), HasSubstr("`encrypt` of the [[link]] must be the same on both sides"));
}

}  // namespace
}  // namespace isthmus::daemon
