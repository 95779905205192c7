// Gateways that come to a running world, and clusters that grow there.
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

constexpr std::size_t kLate = 2;  // number of the gateway, and index of its cluster

/// Two clusters of one rank, and the late gateway of a third.
class GatewayExtension : public testing::Test {
 protected:
  GatewayExtension() {
    EXPECT_EQ(bed_.link(), "");
    bed_.join();
    GatewayConfig config;
    config.node = Testbed::node(kLate);
    config.cluster = "south";
    config.job = "job";
    config.secret = "secret";
    config.survives = config.late = true;
    addresses_ = bed_.on_io([&] {
      late_ = std::make_unique<Gateway>(bed_.io(), config, heard_);
      return late_->listen({"tcp:127.0.0.1:0", "unix:" + bed_.folder() + "/late"});
    });
    world_ = bed_.config(0).world;
    world_.add_gateway(Testbed::node(kLate), "south");
  }
  ~GatewayExtension() override {
    bed_.on_io([&] { late_.reset(); });
  }

  std::string extend(std::size_t i, Extension extension) {
    Awaited<std::string> done;
    bed_.on_io([&] {
      bed_.gateway(i).extend(std::move(extension), [&](const std::string& e) { done.set(e); });
    });
    return done.get();
  }

  /// The others know it; cluster 0 opens a link to it, and it opens one to cluster 1.
  void come() {
    const core::NodeId node = Testbed::node(kLate);
    for (const std::size_t i : {0, 1}) ASSERT_EQ(extend(i, {{{node, "south"}}, {}, {}}), "");
    Awaited<std::string> linked;
    bed_.on_io([&] {
      const core::Routes next{{0, {Testbed::node(0)}}, {1, {Testbed::node(1)}}};
      late_->link(world_, {{.to = Testbed::node(1), .addresses = {bed_.addresses(1)[0]}}}, next,
                  [&](const std::string& error) { linked.set(error); });
    });
    ASSERT_EQ(linked.get(), "");
    ASSERT_EQ(extend(0, {{}, {{.to = node, .addresses = {addresses_[0]}}}, {}}), "");
  }

  core::Growth growth(std::size_t index) const {
    core::Growth growth{index, 0, {.name = "south/" + std::to_string(index), .size = 1, .part = 1}};
    growth.gateways = {Testbed::node(kLate)};
    growth.hops = {{Testbed::node(0), 1}, {Testbed::node(1), 1}};
    return growth;
  }

  void grow(const core::Growth& growth) {
    bed_.on_io([&] {
      for (const std::size_t i : {0, 1}) bed_.gateway(i).grow(growth, growth.gateways);
      late_->grow(growth);
    });
    world_.grow(growth);
  }

  void join(int rank) {
    net::EndpointConfig config = bed_.config(0);
    config.world = world_;
    config.world.gateways.back().addresses = {addresses_[1]};
    config.node = rank;
    bed_.adopt(net::Endpoint::join(config, bed_.on_fault(rank)));
  }

  Testbed bed_{{.sizes = {1, 1}, .connect_timeout = 1000ms, .survives = true}};
  Heard heard_{4, [](core::NodeId, std::uint64_t, const std::string&) {}};
  std::unique_ptr<Gateway> late_;
  std::vector<std::string> addresses_;
  core::World world_;
};

TEST_F(GatewayExtension, ProcessesThereSpeakWithAll) {
  come();
  grow(growth(2));
  join(2);
  for (const std::size_t size : {0, 8, 300'000}) {
    for (const int other : {0, 1}) {
      bed_.exchange(2, other, size);
      bed_.exchange(other, 2, size);
    }
  }
  bed_.leave_all();
}

TEST_F(GatewayExtension, AnotherClusterMayGrowThere) {
  come();
  grow(growth(2));
  join(2);
  core::Growth second = growth(3);
  second.cluster.part = 2;
  grow(second);
  join(3);
  bed_.exchange(3, 0, 8);
  bed_.exchange(2, 3, 8);
  bed_.leave_all();
}

TEST_F(GatewayExtension, AClusterThereMayFail) {
  come();
  grow(growth(2));
  join(2);
  bed_.exchange(2, 0, 8);
  bed_.kill(2);
  EXPECT_THAT(heard_.suspicions[2].get(), HasSubstr("rank 2 (cluster \"south/2\") ended without"));
  bed_.tell_failed(2);
  bed_.on_io([&] { late_->close(nullptr); });
  bed_.exchange(0, 1, 8);
  for (const int rank : {0, 1}) EXPECT_FALSE(bed_.faulted(rank));
}

TEST_F(GatewayExtension, OneThatNobodyHasUsedMayGo) {
  come();
  bed_.on_io([&] { late_->close(nullptr); });
  const core::NodeId node = Testbed::node(kLate);
  for (const std::size_t i : {0, 1}) EXPECT_EQ(extend(i, {{}, {}, {node}}), "");
  bed_.exchange(0, 1, 8);
  bed_.leave_all();
  for (const std::size_t i : {0, 1}) EXPECT_FALSE(bed_.suspects(i, 0) || bed_.suspects(i, 1));
}

TEST_F(GatewayExtension, OneThatIsNotReachedIsNamed) {
  const core::NodeId node = Testbed::node(kLate);
  const std::string error = extend(
      0, {{{node, "south"}}, {{.to = node, .addresses = {"unix:" + bed_.folder() + "/no"}}}, {}});
  EXPECT_THAT(error, HasSubstr("to the gateway \"south\""));
  EXPECT_EQ(extend(0, {{}, {}, {node}}), "");
  bed_.exchange(0, 1, 8);
  bed_.leave_all();
}

}  // namespace
}  // namespace isthmus::daemon
