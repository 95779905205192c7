// Random programs in which peers fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/engine/failing_testbed.hpp"

namespace isthmus::core {
namespace {

/// A random program over several engines, some of which fail: the living hear of it at
/// different times. Then no operation with a failed peer is active, and the living go on.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {
    Limits limits;
    limits.window = 200 + below(2000);
    limits.piece = 20 + below(300);
    limits.gathered = below(2) * 500;
    nodes_ = static_cast<NodeId>(3 + below(3));
    net_ = std::make_unique<PairedEngines>(nodes_, limits);
    dead_.resize(nodes_);
    told_.resize(nodes_, std::vector<bool>(nodes_));
    for (NodeId node = 0; node < nodes_; ++node) {
      services_.push_back(std::make_unique<CountingService>());
      net_->engines[node]->serve(kServiceContext, *services_.back());
    }
  }

  void run() {
    for (int i = 0; i < 150; ++i) step();
    for (NodeId node = 0; node < nodes_; ++node) tell(node);
    settle();
    for (auto& [node, op] : receives_) {
      if (dead_[node] || op->state.load() == OpState::Idle) continue;
      if (op->from != kNobody && dead_[op->from]) {
        EXPECT_TRUE(op->done());
      } else if (!op->done()) {
        EXPECT_TRUE(net_->engines[node]->cancel(*op));
      }
      if (op->done() && op->error == OpError::None) check(*op);
    }
    for (NodeId node = 0; node < nodes_; ++node) drain(node);
    for (auto& [node, op] : sends_) {
      if (dead_[node]) continue;
      EXPECT_NE(op->state.load(), OpState::Active);
      if (!dead_[op->peer]) {
        EXPECT_EQ(op->error, OpError::None);
      }
    }
    for (NodeId node = 0; node < nodes_; ++node) {
      if (dead_[node]) continue;
      EXPECT_EQ(net_->engines[node]->outstanding(), 0U);
      EXPECT_EQ(net_->engines[node]->buffered_bytes(), 0U);
      EXPECT_EQ(net_->engines[node]->gathered(), 0U);
      EXPECT_FALSE(net_->engines[node]->has_output());
    }
    go_on();
  }

 private:
  static constexpr std::size_t kMost = 3000;

  std::size_t below(std::size_t n) { return random_() % n; }
  NodeId any() { return static_cast<NodeId>(below(nodes_)); }
  NodeId living() {
    for (;;) {
      const NodeId node = any();
      if (!dead_[node]) return node;
    }
  }

  void step() {
    const NodeId node = living();
    Engine& engine = *net_->engines[node];
    switch (below(12)) {
      case 0:
      case 1: {
        auto op =
            std::make_unique<PlainSend>(node, any(), below(kMost), static_cast<int>(below(3)));
        op->synchronous = below(4) == 0;
        engine.send(*op);
        sends_.emplace_back(node, std::move(op));
        break;
      }
      case 2:
      case 3: {
        receive(node);
        break;
      }
      case 4:
        give_up_some(node);
        break;
      case 5:
        if (below(25) == 0 && alive() > 2) dead_[node] = true;
        break;
      case 6:
        if (below(3) == 0) tell(node);
        break;
      case 7:
        cancel_or_withhold(node);
        break;
      case 8: {
        const NodeId to = any();
        engine.post(to, {.context = kServiceContext}, std::vector<std::byte>(below(kMost)));
        ++posted_[{node, to}];
        break;
      }
      default:
        net_->collect(node, below(2) == 0 ? SIZE_MAX : below(6));
        for (NodeId to = 0; to < nodes_; ++to) {
          for (std::size_t n = below(4); n > 0 && pass(node, to); --n) {
          }
        }
    }
  }
  void receive(NodeId node) {
    Engine& engine = *net_->engines[node];
    const int from = below(4) == 0 ? kAnySource : static_cast<int>(any());
    auto op = std::make_unique<PlainReceive>(from, kMost, static_cast<int>(below(3)));
    const auto message = below(4) == 0 ? engine.extract(kPlainContext, from, op->tag) : nullptr;
    if (message && below(4) == 0) return;  // it is dropped
    if (message) {
      if (below(2) == 0) tell(node);
      engine.recv(message, *op);
    } else {
      engine.recv(*op);
    }
    receives_.emplace_back(node, std::move(op));
  }
  void cancel_or_withhold(NodeId node) {
    Engine& engine = *net_->engines[node];
    for (auto& [owner, op] : receives_) {
      if (owner != node || below(8) != 0) continue;
      if (below(2) == 0) {
        engine.cancel(*op);
      } else if (engine.withhold(*op)) {
        if (below(2) == 0) tell(node);
        net_->collect(node);
        for (NodeId from = 0; from < nodes_; ++from) pass(from, node);
        engine.release(*op, below(2) == 0);
      }
    }
  }
  std::size_t alive() const {
    return static_cast<std::size_t>(std::count(dead_.begin(), dead_.end(), false));
  }
  bool pass(NodeId from, NodeId to) { return !dead_[to] && net_->deliver(from, to); }
  /// The node hears of all that have failed so far.
  void tell(NodeId node) {
    if (dead_[node]) return;
    for (NodeId peer = 0; peer < nodes_; ++peer) {
      if (!dead_[peer] || told_[node][peer]) continue;
      told_[node][peer] = true;
      net_->engines[node]->fail(peer, 1);
    }
  }
  // The memory is gone, or reads as something else.
  template <class Ops>
  void give_up_some(NodeId node, Ops& ops) {
    for (auto each = ops.begin(); each != ops.end();) {
      auto& [owner, op] = *each;
      if (owner != node || below(4) != 0) {
        ++each;
        continue;
      }
      net_->engines[node]->give_up(*op);
      EXPECT_EQ(op->state.load(), OpState::Idle);
      std::fill(op->bytes.begin(), op->bytes.end(), kGone);
      if (below(2) == 0) {
        each = ops.erase(each);
      } else {
        ++each;
      }
    }
  }
  void give_up_some(NodeId node) {
    give_up_some(node, sends_);
    give_up_some(node, receives_);
  }
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId from = 0; from < nodes_; ++from) {
        if (!dead_[from]) net_->collect(from);
        for (NodeId to = 0; to < nodes_; ++to) {
          while (pass(from, to)) moved = true;
        }
      }
    }
  }
  static void check(const PlainReceive& op) {
    for (std::size_t i = 0; i < op.received; ++i) ASSERT_EQ(op.bytes[i], std::byte{7});
  }
  /// Receives all that has come.
  void drain(NodeId node) {
    if (dead_[node]) return;
    Engine& engine = *net_->engines[node];
    while (engine.probe(kPlainContext, kAnySource, kAnyTag)) {
      PlainReceive op(kAnySource, kMost);
      engine.recv(op);
      settle();
      ASSERT_TRUE(op.done());
      EXPECT_EQ(op.error, OpError::None);
      check(op);
    }
  }
  void go_on() {
    for (const auto& [node, op] : receives_) {
      if (op->state.load() != OpState::Idle || op->bytes[0] != kGone) continue;
      for (const std::byte b : op->bytes) ASSERT_EQ(b, kGone);
    }
    std::vector<std::size_t> expected(nodes_);
    for (NodeId from = 0; from < nodes_; ++from) {
      for (NodeId to = 0; to < nodes_; ++to) {
        if (dead_[from] || dead_[to]) continue;
        expected[to] += posted_[{from, to}];
        PlainSend sent(from, to, 700, 99);
        PlainReceive received(static_cast<int>(from), 700, 99);
        net_->engines[to]->recv(received);
        net_->engines[from]->send(sent);
        settle();
        ASSERT_TRUE(received.done());
        EXPECT_EQ(received.error, OpError::None);
        EXPECT_EQ(received.bytes, sent.bytes);
        EXPECT_TRUE(sent.done());
      }
    }
    for (NodeId node = 0; node < nodes_; ++node) {
      if (dead_[node]) continue;
      EXPECT_GE(services_[node]->taken.size(), expected[node]);
    }
  }

  static constexpr std::byte kGone{0xAA};

  std::mt19937 random_;
  NodeId nodes_ = 0;
  std::vector<std::unique_ptr<CountingService>> services_;
  std::vector<std::pair<NodeId, std::unique_ptr<PlainSend>>> sends_;
  std::vector<std::pair<NodeId, std::unique_ptr<PlainReceive>>> receives_;
  std::unique_ptr<PairedEngines> net_;
  std::vector<bool> dead_;
  std::vector<std::vector<bool>> told_;
  std::map<std::pair<NodeId, NodeId>, std::size_t> posted_;  // messages of services
};

TEST(Failing, RandomProgramsGoOn) {
  for (unsigned seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram(seed).run();
  }
}

}  // namespace
}  // namespace isthmus::core
