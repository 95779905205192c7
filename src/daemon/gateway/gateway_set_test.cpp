// The gateways of two agents, on threads of their own, with ranks that talk by all of them.
#include "daemon/gateway/gateway_set.hpp"

#include <unistd.h>

#include <asio/executor_work_guard.hpp>
#include <filesystem>
#include <future>
#include <set>
#include <thread>

#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::size_t kGateways = 3, kRanks = 2;  // of each cluster

/// Two agents, both on one thread, and their ranks.
class Agents {
 public:
  Agents() {
    char name[] = "/tmp/isthmus-test-XXXXXX";
    folder_ = ::mkdtemp(name);
    thread_ = std::thread([this] { io_.run(); });
    for (std::size_t c = 0; c < 2; ++c) {
      world_.clusters.push_back({name_of(c), static_cast<int>(c * kRanks), int{kRanks}});
    }
    on_io([&] {
      for (std::size_t c = 0; c < 2; ++c) open(c);
    });
  }
  ~Agents() {
    for (auto& endpoint : endpoints_) endpoint.reset();
    on_io([&] { sets_.clear(); });
    work_.reset();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  /// As the launcher's requests come: on the agents' thread.
  template <class Work>
  std::invoke_result_t<Work> on_io(Work work) {
    std::packaged_task<std::invoke_result_t<Work>()> task(work);
    auto result = task.get_future();
    asio::post(io_, [&task] { task(); });
    return result.get();
  }

  std::string link() {
    std::array<Awaited<std::string>, 2> done;
    on_io([&] {
      for (std::size_t c = 0; c < 2; ++c) {
        LinkRequest request;
        request.world = world_;
        for (std::size_t i = 0; i < kGateways; ++i) {
          const core::NodeId own = node(c, i), other = node(1 - c, i);
          request.routes[own][1 - c] = {other};
          if (c == 1) continue;
          LinkRequest::Link link;
          link.from = own;
          link.to = other;
          link.addresses = {addresses_.at(other).back()};
          request.links.push_back(link);
        }
        sets_[c]->link(request,
                       [&answer = done[c]](const std::string& trouble) { answer.set(trouble); });
      }
    });
    return done[0].get() + done[1].get();
  }

  void join() {
    std::vector<std::future<std::unique_ptr<net::Endpoint>>> joins;
    for (int rank = 0; rank < world_.size(); ++rank) {
      net::EndpointConfig config;
      config.world = world_;
      for (core::Gateway& gateway : config.world.gateways) {
        if (gateway.clusters.front() == world_.cluster_of(rank)) {
          gateway.addresses = {addresses_.at(gateway.node).front()};
        }
      }
      config.node = static_cast<core::NodeId>(rank);
      config.job = "job";
      config.secret = "secret";
      joins.push_back(std::async(std::launch::async, [this, config] {
        return net::Endpoint::join(
            config, [this](const std::string& sentence, int) { ranks_fault.set(sentence); });
      }));
    }
    for (auto& join : joins) endpoints_.push_back(join.get());
  }

  /// Both ways between two ranks at once.
  void exchange(int one, int other, std::size_t size) {
    TestMessage there(one, other, size), back(other, one, size);
    for (TestMessage* message : {&there, &back}) {
      rank(message->send.peer).recv(message->recv);
      rank(message->recv.source).send(message->send);
    }
    for (TestMessage* message : {&there, &back}) {
      wait(message->recv.source, message->send);
      wait(message->send.peer, message->recv);
      ASSERT_TRUE(message->is_right()) << size << " bytes to " << message->send.peer;
    }
  }

  net::Endpoint& rank(int r) { return *endpoints_[static_cast<std::size_t>(r)]; }
  void kill(int r) { endpoints_[static_cast<std::size_t>(r)].reset(); }
  GatewaySet& set(std::size_t c) { return *sets_[c]; }
  void leave_all() {
    std::vector<std::future<void>> leaves;
    for (auto& endpoint : endpoints_) {
      leaves.push_back(std::async(std::launch::async, [&] { endpoint->leave(); }));
    }
    for (auto& leave : leaves) leave.get();
  }
  void close(std::size_t c) {
    Awaited<bool> closed;
    on_io([&] { sets_[c]->close([&] { closed.set(true); }); });
    EXPECT_TRUE(closed.get());
  }
  static core::NodeId node(std::size_t cluster, std::size_t i) {
    return core::kFirstGateway + static_cast<core::NodeId>(cluster * kGateways + i);
  }

  std::array<Awaited<int>, 2> joined;
  std::array<Awaited<std::string>, 2> fault, abort;
  std::array<std::atomic<int>, 2> told{};  // joined, faults and aborts
  std::atomic<bool> elsewhere{false};      // an event came on another thread
  Awaited<std::string> ranks_fault;

 private:
  struct User final : GatewayUser {
    User(Agents& its, std::size_t number) : agents(its), c(number) {}
    void joined(const std::string&, int size) override {
      tell();
      agents.joined[c].set(size);
    }
    void fault(const std::string& message, int) override {
      tell();
      agents.fault[c].set(message);
    }
    void abort(int rank, int code, const std::string& message) override {
      tell();
      agents.abort[c].set(std::to_string(rank) + ' ' + std::to_string(code) + ' ' + message);
    }
    void tell() {
      ++agents.told[c];
      if (std::this_thread::get_id() != agents.thread_.get_id()) agents.elsewhere = true;
    }

    Agents& agents;
    std::size_t c;
  };

  static std::string name_of(std::size_t c) { return c == 0 ? "east" : "west"; }

  void open(std::size_t c) {
    ConfigureRequest request;
    request.job = "job";
    request.secret = "secret";
    request.cluster = name_of(c);
    for (std::size_t i = 0; i < kGateways; ++i) {
      request.gateways.push_back({node(c, i), {"tcp:127.0.0.1:0"}, {}});
    }
    const std::string folder = folder_ + '/' + name_of(c);
    std::filesystem::create_directory(folder);
    sets_.push_back(std::make_unique<GatewaySet>(io_, request, folder, users_[c]));
    for (const auto& one : sets_.back()->listening()) {
      const auto own = one.at("node").get<core::NodeId>();
      addresses_[own] = one.at("addresses").get<std::vector<std::string>>();
      core::Gateway gateway;
      gateway.node = own;
      gateway.clusters = {c};
      world_.gateways.push_back(gateway);
    }
  }

  void wait(int r, core::Op& op) {
    const auto limit = std::chrono::steady_clock::now() + 90s;
    while (!op.done()) {
      const auto seen = rank(r).events();
      if (op.done()) return;
      ASSERT_FALSE(ranks_fault.there()) << ranks_fault.get();
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "rank " << r << " waited for 90 s";
      rank(r).wait_event(seen, 100ms);
    }
  }

  std::string folder_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  std::thread thread_;
  core::World world_;
  std::map<core::NodeId, std::vector<std::string>> addresses_;
  std::array<User, 2> users_{User{*this, 0}, User{*this, 1}};
  std::vector<std::unique_ptr<GatewaySet>> sets_;
  std::vector<std::unique_ptr<net::Endpoint>> endpoints_;
};

TEST(GatewaySet, AllGatewaysCarryAndAreCounted) {
  Agents agents;
  ASSERT_EQ(agents.link(), "");
  agents.join();
  EXPECT_EQ(agents.joined[0].get(), 2);
  EXPECT_EQ(agents.joined[1].get(), 2);
  std::set<core::NodeId> carried;
  for (int i = 0; i < 200 && (i < 5 || carried.size() < kGateways); ++i) {
    agents.exchange(0, 2, 4'000'000);
    agents.exchange(1, 3, 8);
    for (const LinkCount& count : agents.on_io([&] { return agents.set(0).counts(); })) {
      if (count.bytes > 100'000) carried.insert(count.from);
    }
  }
  EXPECT_EQ(carried.size(), kGateways);
  agents.on_io([&] {
    EXPECT_TRUE(agents.set(0).joined());
    EXPECT_EQ(agents.set(0).near_stats().size(), kGateways);
    agents.set(0).ask_where(false);
  });
  agents.leave_all();
  for (std::size_t c = 0; c < 2; ++c) {
    while (!agents.on_io([&] { return agents.set(c).finished(); })) std::this_thread::yield();
    agents.close(c);
    EXPECT_EQ(agents.told[c], 1);
  }
  EXPECT_FALSE(agents.elsewhere);
}

TEST(GatewaySet, ADeadRankIsOneFaultForEachAgent) {
  Agents agents;
  ASSERT_EQ(agents.link(), "");
  agents.join();
  agents.exchange(0, 2, 1'000'000);
  agents.kill(3);
  for (std::size_t c = 0; c < 2; ++c) EXPECT_NE(agents.fault[c].get(), "");
  EXPECT_NE(agents.ranks_fault.get(), "");
  for (std::size_t c = 0; c < 2; ++c) {
    agents.close(c);
    EXPECT_EQ(agents.told[c], 2);  // joined, and the fault
  }
  EXPECT_FALSE(agents.elsewhere);
}

TEST(GatewaySet, TheyEndInTheMiddleOfTraffic) {
  auto agents = std::make_unique<Agents>();
  ASSERT_EQ(agents->link(), "");
  agents->join();
  TestMessage message(0, 2, 8'000'000);
  agents->rank(2).recv(message.recv);
  agents->rank(0).send(message.send);
  agents.reset();
}

TEST(GatewaySet, APortThatIsTakenIsNamed) {
  asio::io_context io;
  char name[] = "/tmp/isthmus-test-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string folder = name;
  ConfigureRequest request;
  request.job = "job";
  request.cluster = "east";
  request.gateways = {{core::kFirstGateway, {"tcp:127.0.0.1:0"}, {}}};
  struct Nobody final : GatewayUser {
  } user;
  GatewaySet first(io, request, folder, user);
  const std::string taken = first.listening()[0]["addresses"][1];
  std::filesystem::create_directory(folder + "/again");
  request.gateways.push_back({core::kFirstGateway + 1, {taken}, {}});
  try {
    const GatewaySet second(io, request, folder + "/again", user);
    FAIL() << "nobody minds";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(taken.substr(4)));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace isthmus::daemon
