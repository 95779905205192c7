// Processes of a run that goes on without clusters that fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "net/endpoint/endpoint.hpp"
#include "net/endpoint/endpoint_testbed.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLarge = 8'000'000;
const std::string kWhy = "cluster \"b\" has failed: its job has ended";

struct Sending : core::SendOp {
  Sending(core::NodeId from, core::NodeId to, std::size_t size, int tag = 1)
      : bytes(size, std::byte{7}) {
    peer = to;
    envelope = {42, static_cast<std::int32_t>(from), tag, size};
    data = bytes;
  }
  std::vector<std::byte> bytes;
};

struct Receiving : core::RecvOp {
  Receiving(core::NodeId from_, std::size_t size, int tag_ = 1) : bytes(size) {
    context = 42;
    source = static_cast<std::int32_t>(from_);
    tag = tag_;
    from = from_;
    buffer = bytes.data();
    capacity = size;
  }
  std::vector<std::byte> bytes;
};

// Three clusters of one process each. All are connected to the same hubs, one or more.
class EndpointFailing : public testing::Test {
 protected:
  static constexpr int kProcesses = 3;

  ~EndpointFailing() override {
    for (auto& endpoint : endpoints_) endpoint.reset();
  }

  void join(std::size_t hubs = 1, bool survives = true) {
    for (int i = 0; i < kProcesses; ++i) {
      world_.clusters.push_back({std::string(1, static_cast<char>('a' + i)), i, 1});
    }
    for (std::size_t i = 0; i < hubs; ++i) {
      const auto node = core::kFirstGateway + static_cast<core::NodeId>(i);
      hubs_.push_back(std::make_unique<Hub>(node, kProcesses));
      core::Gateway gateway;
      gateway.node = node;
      gateway.clusters = {0, 1, 2};
      gateway.addresses = {hubs_.back()->address()};
      world_.gateways.push_back(gateway);
    }
    std::vector<std::future<std::unique_ptr<Endpoint>>> joins;
    for (int node = 0; node < kProcesses; ++node) {
      joins.push_back(std::async(std::launch::async, [this, node, survives] {
        EndpointConfig config;
        config.world = world_;
        config.node = node;
        config.job = "job";
        config.secret = "secret";
        config.survives = survives;
        config.failed = [this, node](std::size_t cluster, const std::string& why) {
          {
            const std::lock_guard lock(mutex_);
            told_[static_cast<std::size_t>(node)].push_back(std::to_string(cluster) + ": " + why);
          }
          if (node == 0 && cluster == held_at_) held_.arrive_and_wait();
        };
        config.changed = [this, node](ClusterChange change, const std::string& cluster,
                                      const std::string&) {
          if (node == 0 && cluster == held_by_) held_.arrive_and_wait();
          const std::lock_guard lock(mutex_);
          changed_[static_cast<std::size_t>(node)].emplace_back(change, cluster);
        };
        return Endpoint::join(std::move(config), [this, node](const std::string& sentence, int) {
          const std::lock_guard lock(mutex_);
          faults_[static_cast<std::size_t>(node)] = sentence;
        });
      }));
    }
    for (auto& each : joins) endpoints_.push_back(each.get());
  }

  Endpoint& rank(int r) { return *endpoints_[static_cast<std::size_t>(r)]; }
  std::string fault(int r) {
    const std::lock_guard lock(mutex_);
    return faults_[static_cast<std::size_t>(r)];
  }
  std::vector<std::string> told(int r) {
    const std::lock_guard lock(mutex_);
    return told_[static_cast<std::size_t>(r)];
  }

  std::vector<std::pair<ClusterChange, std::string>> changed(int r) {
    const std::lock_guard lock(mutex_);
    return changed_[static_cast<std::size_t>(r)];
  }

  // Until `done` or for a minute.
  template <class Done>
  bool wait_until(int r, Done done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < limit) {
      const auto seen = rank(r).events();
      if (done()) return true;
      rank(r).wait_event(seen, 10ms);
    }
    return false;
  }
  bool wait(int r, const core::Op& op) {
    return wait_until(r, [&op] { return op.done(); });
  }

  void exchange(int from, int to, std::size_t size = kLarge) {
    Sending send(static_cast<core::NodeId>(from), static_cast<core::NodeId>(to), size, 9);
    Receiving recv(static_cast<core::NodeId>(from), size, 9);
    rank(to).recv(recv);
    rank(from).send(send);
    ASSERT_TRUE(wait(to, recv) && wait(from, send));
    EXPECT_EQ(recv.error, core::OpError::None);
    EXPECT_EQ(recv.bytes, send.bytes);
  }

  /// The launcher has decided that cluster b has failed: all hubs tell the others.
  void fail() {
    for (const auto& hub : hubs_) hub->drop(1);
    for (const auto& hub : hubs_) {
      for (const core::NodeId node : {0U, 2U}) hub->say(node, control::Failed{1, kWhy});
    }
  }
  void others_leave() {
    std::vector<std::future<void>> leaves;
    for (const int r : {0, 2}) {
      leaves.push_back(std::async(std::launch::async, [this, r] { rank(r).leave(); }));
    }
    for (auto& leave : leaves) {
      ASSERT_EQ(leave.wait_for(60s), std::future_status::ready);
      leave.get();
    }
    for (const int r : {0, 2}) EXPECT_EQ(fault(r), "");
  }

  core::World world_;
  std::vector<std::unique_ptr<Hub>> hubs_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::mutex mutex_;
  std::string faults_[kProcesses];
  std::vector<std::pair<ClusterChange, std::string>> changed_[kProcesses];
  std::vector<std::string> told_[kProcesses];
  // The I/O of process 0 stops there, when it hears that this cluster has failed.
  std::optional<std::size_t> held_at_;
  std::string held_by_;  // or when it hears news of this one
  std::latch held_{2};
};

TEST_F(EndpointFailing, OperationsEndAndTheOthersGoOn) {
  join(2);
  Receiving recv(1, 8);
  Sending unmatched(0, 1, kLarge);
  unmatched.synchronous = true;
  rank(0).recv(recv);
  rank(0).send(unmatched);
  fail();
  for (const core::Op* const op : std::initializer_list<const core::Op*>{&recv, &unmatched}) {
    ASSERT_TRUE(wait(0, *op));
    EXPECT_EQ(told(0), std::vector<std::string>{"1: " + kWhy}) << "once, and before";
  }
  EXPECT_EQ(recv.error, core::OpError::Failed);
  EXPECT_EQ(unmatched.error, core::OpError::Failed);
  ASSERT_TRUE(wait_until(2, [&] { return !told(2).empty(); })) << "though it does nothing";
  Sending late(2, 1, 8);
  rank(2).send(late);
  ASSERT_TRUE(wait(2, late));
  EXPECT_EQ(late.error, core::OpError::Failed);
  endpoints_[1].reset();
  exchange(0, 2);
  exchange(2, 0);
  others_leave();
}

TEST_F(EndpointFailing, WhatIsUnderWayEndsOnBothSides) {
  join();
  Sending out(0, 1, kLarge), in(1, 0, kLarge, 2);
  Receiving there(0, kLarge), here(1, kLarge, 2);
  rank(1).recv(there);
  rank(0).recv(here);
  hubs_[0]->drop(1, 40);
  rank(0).send(out);
  rank(1).send(in);
  ASSERT_TRUE(wait_until(0, [&] { return hubs_[0]->drops(1); }));
  fail();
  ASSERT_TRUE(wait(0, out)) << "all of it may have gone before";
  ASSERT_TRUE(wait(0, here));
  EXPECT_EQ(here.error, core::OpError::Failed);
  EXPECT_FALSE(there.done());
  // Its own cluster: this process is not of the run any more.
  hubs_[0]->say(1, control::Failed{1, kWhy});
  ASSERT_TRUE(wait_until(1, [&] { return !fault(1).empty(); }));
  EXPECT_NE(fault(1).find(kWhy), std::string::npos);
  endpoints_[1].reset();
  exchange(2, 0);
  others_leave();
}

// Messages wait, and the process does not leave without them, until the cluster has failed.
TEST_F(EndpointFailing, ALostWayIsNoFault) {
  join();
  hubs_[0]->say(0, control::Lost{1, "it fell silent"});
  hubs_[0]->say(0, control::Lost{1, "it is cut off", 1});
  exchange(2, 0);  // it has heard of that
  Sending waiting(0, 1, 8);
  waiting.synchronous = true;
  rank(0).send(waiting);
  exchange(0, 2);
  EXPECT_FALSE(waiting.done());
  EXPECT_EQ(fault(0), "");
  auto leaves = std::async(std::launch::async, [&] { rank(0).leave(); });
  EXPECT_EQ(leaves.wait_for(50ms), std::future_status::timeout);
  fail();
  ASSERT_EQ(leaves.wait_for(60s), std::future_status::ready);
  leaves.get();
  EXPECT_EQ(waiting.error, core::OpError::Failed);
}

TEST_F(EndpointFailing, ALostWayIsAFaultOfOtherRuns) {
  join(1, false);
  hubs_[0]->say(0, control::Lost{1, "it fell silent"});
  ASSERT_TRUE(wait_until(0, [&] { return !fault(0).empty(); }));
}

// The gateway that is left does not reach cluster b.
TEST_F(EndpointFailing, OnlyTheLossOfAllGatewaysIsAFault) {
  join(2);
  hubs_[1]->say(0, control::Lost{1, "it fell silent"});
  hubs_[1]->say(2, control::Lost{1, "it fell silent"});
  exchange(0, 2);
  hubs_[0]->close();
  exchange(0, 2);
  exchange(2, 0);
  EXPECT_EQ(fault(0) + fault(2), "");
  hubs_[1]->close();
  ASSERT_TRUE(wait_until(0, [&] { return !fault(0).empty(); }));
}

TEST_F(EndpointFailing, AProcessWithADirectConduitThatDiesIsNoFault) {
  world_.direct = {{0, 1, false}, {0, 2, false}};
  join();
  for (int i = 0; i < 10; ++i) {
    exchange(0, 1);
    exchange(2, 0);
  }
  Receiving recv(1, 8);
  rank(0).recv(recv);
  endpoints_[1].reset();
  Sending send(0, 1, kLarge);
  send.synchronous = true;
  rank(0).send(send);
  exchange(0, 2);
  EXPECT_EQ(fault(0), "");
  fail();
  ASSERT_TRUE(wait(0, recv) && wait(0, send));
  EXPECT_EQ(recv.error, core::OpError::Failed);
  EXPECT_EQ(send.error, core::OpError::Failed);
  exchange(0, 2);
  others_leave();
}

// The gateway's news may overtake it.
TEST_F(EndpointFailing, WhatHasComeDirectlyIsReceived) {
  world_.direct = {{.a = 0, .b = 1, .encrypt = false}};
  join();
  for (std::size_t before = 1; before != hubs_[0]->passed_on();) {
    before = hubs_[0]->passed_on();
    exchange(1, 0, 8);
    if (HasFatalFailure()) return;
  }
  held_at_ = 2;
  hubs_[0]->say(0, control::Failed{2, kWhy});
  ASSERT_TRUE(wait_until(1, [&] { return !told(0).empty(); }));
  // All of this comes while process 0 reads nothing. It will read in this order.
  hubs_[0]->say(0, control::Failed{1, kWhy});
  ASSERT_FALSE(hubs_[0]->drops(1)) << "after the news";
  Sending send(1, 0, 8);
  rank(1).send(send);
  exchange(1, 2);  // after the message
  held_.arrive_and_wait();
  Receiving recv(1, 8);
  ASSERT_TRUE(wait_until(0, [&] { return told(0).size() == 2; }));
  rank(0).recv(recv);
  ASSERT_TRUE(wait(0, recv));
  EXPECT_EQ(recv.error, core::OpError::None);
  EXPECT_EQ(recv.bytes, send.bytes);
}

TEST_F(EndpointFailing, MemoryThatIsGivenUpIsNotTouched) {
  world_.direct = {{0, 2, false}};
  join();
  for (int i = 0; i < 20; ++i) {
    Sending send(0, 2, kLarge), back(2, 0, kLarge, 2);
    Receiving recv(0, kLarge), dropped(2, kLarge, 2);
    rank(2).recv(recv);
    rank(0).recv(dropped);
    rank(2).send(back);
    rank(0).send(send);
    for (int polls = 0; polls < 3 * i; ++polls) rank(0).poll();
    rank(0).give_up(send);
    rank(0).give_up(dropped);
    std::ranges::fill(send.bytes, std::byte{0});
    std::ranges::fill(dropped.bytes, std::byte{1});
    ASSERT_TRUE(wait(2, recv) && wait(2, back));
    EXPECT_TRUE(std::ranges::all_of(recv.bytes, [](std::byte b) { return b == std::byte{7}; }));
    EXPECT_TRUE(std::ranges::all_of(dropped.bytes, [](std::byte b) { return b == std::byte{1}; }));
  }
  exchange(0, 2);
}

TEST_F(EndpointFailing, NewsOfClustersComesOnceAndInOrder) {
  join(2);
  const control::Spare joins{0, "d", false, "it has joined"}, leaves{1, "d", true, "it has left"};
  hubs_[1]->say(0, leaves);
  exchange(2, 0);
  EXPECT_TRUE(changed(0).empty());
  for (const auto& hub : hubs_) {
    hub->say(0, joins);
    hub->say(0, leaves);
  }
  fail();
  ASSERT_TRUE(wait_until(0, [&] { return changed(0).size() >= 3; }));
  hubs_[0]->say(0, control::Spare{2, "d", false, "it has joined"});
  ASSERT_TRUE(wait_until(0, [&] { return changed(0).size() >= 4; }));
  auto found = changed(0);
  EXPECT_EQ(std::erase(found, std::pair(ClusterChange::Failed, std::string("b"))), 1);
  const std::vector<std::pair<ClusterChange, std::string>> expected{
      {ClusterChange::Joined, "d"}, {ClusterChange::Left, "d"}, {ClusterChange::Joined, "d"}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(changed(2).size(), 1);
  others_leave();
}

// The I/O is in the middle of a read, and ends it after abort() has begun to wait.
TEST_F(EndpointFailing, AnAbortReturnsWhenTheGatewayHasIt) {
  held_by_ = "d";
  join();
  exchange(0, 2);
  exchange(2, 0);
  hubs_[0]->say(0, control::Spare{0, "d", false, "it has joined"});
  auto aborting = std::async(std::launch::async, [this] {
    rank(0).abort(5, std::string(kLarge / 2, 'x'));  // takes a while
    return hubs_[0]->aborts().size();
  });
  std::this_thread::sleep_for(50ms);
  held_.arrive_and_wait();
  EXPECT_EQ(aborting.get(), 1);
}

TEST_F(EndpointFailing, AClusterThatIsStillToComeMayHaveFailed) {
  join();
  hubs_[0]->say(0, control::Failed{3, kWhy});
  exchange(2, 0);
  EXPECT_TRUE(told(0).empty());
  core::Growth growth;
  growth.index = 3;
  growth.like = 1;
  growth.cluster.name = "b/1";
  growth.cluster.size = 2;
  growth.cluster.part = 1;
  hubs_[0]->say(0, control::Grown{core::growth_to_json(growth)});
  ASSERT_TRUE(wait_until(0, [&] { return !told(0).empty(); }));
  EXPECT_EQ(told(0).front(), "3: " + kWhy);
  Receiving recv(4, 8);
  rank(0).recv(recv);
  ASSERT_TRUE(wait(0, recv));
  EXPECT_EQ(recv.error, core::OpError::Failed);
}

// As a GPU's driver tells, while who holds the engine waits for the driver.
TEST_F(EndpointFailing, ASendGrowsWhileTheEngineIsHeld) {
  join();
  Sending send(0, 1, kLarge);
  Receiving recv(0, kLarge);
  rank(1).recv(recv);
  send.ready = 0;
  rank(0).send(send);
  const auto growing = std::make_shared<GrowingSend>(send);
  for (std::size_t ready = kLarge / 4; ready <= kLarge; ready += kLarge / 4) {
    rank(0).locked([&](core::Engine&) { rank(0).extend(growing, ready); });
  }
  EXPECT_TRUE(wait(0, send));
  EXPECT_TRUE(wait(1, recv));
  EXPECT_EQ(recv.bytes, send.bytes);
  rank(0).end_growth(*growing);
  EXPECT_EQ(growing->op, nullptr);
}

}  // namespace
}  // namespace isthmus::net
