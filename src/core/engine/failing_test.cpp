// Peers that fail, and operations that end before their messages do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/engine/engine.hpp"

namespace isthmus::core {
namespace {

constexpr std::uint64_t kPlainContext = 4;

/// Engines, and a network that keeps the frames of each pair in order.
class PairedEngines {
 public:
  explicit PairedEngines(NodeId nodes, Limits limits = {}) {
    for (NodeId i = 0; i < nodes; ++i) engines.push_back(std::make_unique<Engine>(i, limits));
  }

  /// Takes the frames of an engine into the network, at most so many.
  void collect(NodeId from, std::size_t most = SIZE_MAX) {
    OutFrame frame;
    for (; most > 0 && engines[from]->next_frame(frame); --most) {
      std::vector<std::byte> body(frame.head.begin(), frame.head.begin() + frame.head_size);
      body.insert(body.end(), frame.payload.begin(), frame.payload.end());
      ways[{from, frame.destination}].push_back({frame.kind, std::move(body)});
    }
  }
  /// Delivers the first frame of a way. False: it has none.
  bool deliver(NodeId from, NodeId to) {
    auto& way = ways[{from, to}];
    if (way.empty()) return false;
    const auto [kind, body] = std::move(way.front());
    way.pop_front();
    EXPECT_TRUE(engines[to]->deliver({kind, from, to, body}));
    return true;
  }
  /// Until nothing moves.
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId from = 0; from < engines.size(); ++from) {
        collect(from);
        for (NodeId to = 0; to < engines.size(); ++to) {
          while (deliver(from, to)) moved = true;
        }
      }
    }
  }

  struct Frame {
    FrameKind kind;
    std::vector<std::byte> body;
  };
  std::vector<std::unique_ptr<Engine>> engines;
  std::map<std::pair<NodeId, NodeId>, std::deque<Frame>> ways;
};

struct PlainSend : SendOp {
  PlainSend(NodeId from, NodeId to, std::size_t size, int tag_ = 0) : bytes(size, std::byte{7}) {
    peer = to;
    envelope.context = kPlainContext;
    envelope.source = static_cast<std::int32_t>(from);
    envelope.tag = tag_;
    data = bytes;
  }
  std::vector<std::byte> bytes;
};

struct PlainReceive : RecvOp {
  PlainReceive(int from_rank, std::size_t size, int tag_ = kAnyTag) : bytes(size) {
    context = kPlainContext;
    source = from_rank;
    tag = tag_;
    buffer = bytes.data();
    capacity = size;
    if (from_rank != kAnySource) from = static_cast<NodeId>(from_rank);
  }
  std::vector<std::byte> bytes;
};

TEST(Failing, AReceiveFromAFailedPeerEnds) {
  PairedEngines net(3);
  PlainReceive lost(1, 8), other(2, 8), any(kAnySource, 8);
  net.engines[0]->recv(lost);
  net.engines[0]->recv(other);
  net.engines[0]->recv(any);
  const auto before = net.engines[0]->events();
  net.engines[0]->fail(1, 1);
  EXPECT_NE(net.engines[0]->events(), before);
  ASSERT_TRUE(lost.done());
  EXPECT_EQ(lost.error, OpError::Failed);
  EXPECT_FALSE(other.done());
  EXPECT_FALSE(any.done());
  EXPECT_TRUE(net.engines[0]->failed(1));
  EXPECT_FALSE(net.engines[0]->failed(2));
  EXPECT_TRUE(net.engines[0]->cancel(other));
  EXPECT_TRUE(net.engines[0]->cancel(any));
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
}

TEST(Failing, WhatCameWholeIsReceivedFirst) {
  PairedEngines net(2);
  PlainSend sent(1, 0, 100);
  net.engines[1]->send(sent);
  net.settle();
  net.engines[0]->fail(1, 1);
  PlainReceive first(1, 100), second(1, 100);
  net.engines[0]->recv(first);
  ASSERT_TRUE(first.done());
  EXPECT_EQ(first.error, OpError::None);
  EXPECT_EQ(first.bytes, sent.bytes);
  net.engines[0]->recv(second);
  ASSERT_TRUE(second.done());
  EXPECT_EQ(second.error, OpError::Failed);
}

TEST(Failing, AMessageThatLacksDataEnds) {
  Limits limits;
  limits.window = 1000;
  limits.piece = 100;
  PairedEngines net(2, limits);
  PlainSend sent(1, 0, 5000), unexpected(1, 0, 5000, 1);
  net.engines[1]->send(sent);
  net.engines[1]->send(unexpected);
  PlainReceive receive(1, 5000, 0);
  net.engines[0]->recv(receive);
  net.collect(1);
  net.deliver(1, 0);
  EXPECT_FALSE(receive.done());
  while (net.deliver(1, 0)) {
  }
  EXPECT_TRUE(net.engines[0]->probe(kPlainContext, 1, 1));
  const auto taken = net.engines[0]->extract(kPlainContext, 1, 1);
  net.engines[0]->fail(1, 1);
  ASSERT_TRUE(receive.done());
  EXPECT_EQ(receive.error, OpError::Failed);
  PlainReceive late(1, 5000);
  net.engines[0]->recv(taken, late);
  ASSERT_TRUE(late.done());
  EXPECT_EQ(late.error, OpError::Failed);
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
  EXPECT_EQ(net.engines[0]->buffered_bytes(), 0U);
}

TEST(Failing, SendsToAFailedPeerEnd) {
  Limits limits;
  limits.window = 1000;
  limits.piece = 100;
  PairedEngines net(2, limits);
  PlainSend large(0, 1, 5000), small(0, 1, 8), synchronous(0, 1, 8);
  synchronous.synchronous = true;
  net.engines[0]->send(large);
  net.engines[0]->send(synchronous);
  net.collect(0);
  EXPECT_FALSE(large.done());
  net.engines[0]->fail(1, 1);
  for (const SendOp* const op : {&large, &synchronous}) {
    ASSERT_TRUE(op->done());
    EXPECT_EQ(op->error, OpError::Failed);
  }
  net.engines[0]->send(small);
  ASSERT_TRUE(small.done());
  EXPECT_EQ(small.error, OpError::Failed);
  OutFrame frame;
  EXPECT_FALSE(net.engines[0]->send_at_once(small, frame));
  EXPECT_FALSE(net.engines[0]->has_output());
  net.engines[0]->post(1, {.context = kServiceContext}, std::vector<std::byte>(9));
  EXPECT_FALSE(net.engines[0]->has_output());
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
}

// A part of the message may go without a grant, and has not gone yet.
TEST(Failing, ASendWithPiecesLeftEndsOnce) {
  Limits limits;
  limits.window = 1000;
  limits.piece = 100;
  PairedEngines net(2, limits);
  PlainSend large(0, 1, 5000);
  net.engines[0]->send(large);
  net.collect(0, 1);
  net.engines[0]->fail(1, 1);
  ASSERT_TRUE(large.done());
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
}

TEST(Failing, GatheredMessagesAreDropped) {
  Limits limits;
  limits.gathered = 1000;
  PairedEngines net(2, limits);
  PlainSend sent(0, 1, 8);
  EXPECT_TRUE(net.engines[0]->send(sent));
  EXPECT_GT(net.engines[0]->gathered(), 0U);
  net.engines[0]->fail(1, 1);
  EXPECT_EQ(net.engines[0]->gathered(), 0U);
  EXPECT_FALSE(net.engines[0]->has_output());
}

TEST(Failing, FramesOfAFailedPeerAreDropped) {
  PairedEngines net(2);
  PlainSend sent(1, 0, 8);
  net.engines[1]->send(sent);
  net.collect(1);
  net.engines[0]->fail(1, 1);
  net.deliver(1, 0);
  net.settle();
  EXPECT_FALSE(net.engines[0]->probe(kPlainContext, kAnySource, kAnyTag));
}

TEST(Failing, AWithheldContextIsServedFirst) {
  PairedEngines net(2);
  PlainReceive held(kAnySource, 8, 1), behind(1, 8, 2), lost(1, 8, 3);
  net.engines[0]->recv(held);
  net.engines[0]->recv(behind);
  net.engines[0]->recv(lost);
  ASSERT_TRUE(net.engines[0]->withhold(held));
  PlainSend sent(1, 0, 8, 2);
  net.engines[1]->send(sent);
  net.settle();
  net.engines[0]->fail(1, 1);
  EXPECT_FALSE(behind.done());
  EXPECT_FALSE(lost.done());
  net.engines[0]->release(held, true);
  ASSERT_TRUE(behind.done());
  EXPECT_EQ(behind.error, OpError::None);
  ASSERT_TRUE(lost.done());
  EXPECT_EQ(lost.error, OpError::Failed);
}

class CountingService final : public Service {
 public:
  bool take(NodeId, const Envelope&, std::span<const std::byte> bytes) override {
    taken.push_back(bytes.size());
    return true;
  }
  std::vector<std::size_t> taken;
};

TEST(Failing, MessagesOfServicesAreDropped) {
  Limits limits;
  limits.window = 1000;
  limits.piece = 100;
  PairedEngines net(3, limits);
  CountingService service;
  net.engines[0]->serve(kServiceContext, service);
  net.engines[1]->post(0, {.context = kServiceContext}, std::vector<std::byte>(5000));
  net.collect(1);
  while (net.deliver(1, 0)) {
  }
  net.engines[0]->fail(1, 1);
  EXPECT_TRUE(service.taken.empty());
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
  net.engines[2]->post(0, {.context = kServiceContext}, std::vector<std::byte>(5));
  net.settle();
  EXPECT_EQ(service.taken, std::vector<std::size_t>{5});
}

TEST(Failing, ASendThatIsGivenUpArrives) {
  Limits limits;
  limits.window = 1000;
  limits.piece = 100;
  for (const bool announced : {false, true}) {
    PairedEngines net(2, limits);
    auto sent = std::make_unique<PlainSend>(0, 1, 5000);
    PlainSend after(0, 1, 8, 1);
    net.engines[0]->send(*sent);
    net.engines[0]->send(after);
    if (announced) net.collect(0);
    net.engines[0]->give_up(*sent);
    EXPECT_EQ(sent->state.load(), OpState::Idle);
    const auto expected = sent->bytes;
    sent.reset();
    PlainReceive receive(0, 5000, 0), second(0, 8, 1);
    net.engines[1]->recv(receive);
    net.engines[1]->recv(second);
    net.settle();
    ASSERT_TRUE(receive.done());
    EXPECT_EQ(receive.bytes, expected);
    EXPECT_TRUE(second.done());
    EXPECT_EQ(net.engines[0]->outstanding(), 0U);
  }
}

TEST(Failing, AReceiveThatIsGivenUpTakesNoMore) {
  Limits limits;
  limits.window = 1000;
  limits.piece = 100;
  PairedEngines net(2, limits);
  PlainSend sent(1, 0, 5000), after(1, 0, 8, 1);
  net.engines[1]->send(sent);
  net.engines[1]->send(after);
  auto receive = std::make_unique<PlainReceive>(1, 5000, 0);
  net.engines[0]->recv(*receive);
  net.collect(1);
  net.deliver(1, 0);
  net.engines[0]->give_up(*receive);
  EXPECT_EQ(receive->state.load(), OpState::Idle);
  receive.reset();
  net.settle();
  EXPECT_TRUE(sent.done());
  PlainReceive next(1, 8);
  net.engines[0]->recv(next);
  net.settle();
  EXPECT_TRUE(next.done());
  EXPECT_EQ(next.envelope.tag, 1);
}

class HearingCompletion final : public Completion {
 public:
  void over(Op& op) override { heard.push_back(&op); }
  std::vector<Op*> heard;
};

TEST(Failing, CompletionsAndListsHearOfIt) {
  Limits limits;
  limits.window = 1000;
  PairedEngines net(2, limits);
  HearingCompletion hearing;
  MatchedReceives matched;
  PlainSend sent(0, 1, 5000);
  PlainReceive posted(1, 8), late(1, 8);
  for (Op* const op : std::initializer_list<Op*>{&sent, &posted, &late}) op->then = &hearing;
  posted.tell = late.tell = &matched;
  net.engines[0]->send(sent);
  net.engines[0]->recv(posted);
  net.engines[0]->fail(1, 1);
  EXPECT_EQ(hearing.heard.size(), 2U);
  EXPECT_EQ(matched.take_all(), &posted);
  net.engines[0]->recv(late);
  EXPECT_EQ(hearing.heard.size(), 3U);
  EXPECT_EQ(matched.take_all(), &late);
}

TEST(Failing, OperationsWithThisProcessGoOn) {
  PairedEngines net(2);
  PlainSend sent(0, 0, 5000);
  PlainReceive receive(0, 5000);
  net.engines[0]->recv(receive);
  net.engines[0]->fail(1, 1);
  net.engines[0]->send(sent);
  net.settle();
  EXPECT_TRUE(sent.done());
  ASSERT_TRUE(receive.done());
  EXPECT_EQ(receive.bytes, sent.bytes);
}

TEST(Failing, GivingUpWhatIsOverDoesNothing) {
  PairedEngines net(2);
  PlainSend sent(0, 1, 8);
  PlainReceive receive(0, 8), posted(1, 8);
  net.engines[0]->give_up(sent);  // it has not begun
  net.engines[1]->recv(receive);
  net.engines[0]->recv(posted);
  net.engines[0]->send(sent);
  net.settle();
  net.engines[0]->give_up(sent);
  net.engines[1]->give_up(receive);
  net.engines[0]->give_up(posted);
  for (const Op* const op : std::initializer_list<Op*>{&sent, &receive, &posted}) {
    EXPECT_EQ(op->state.load(), OpState::Idle);
  }
  EXPECT_EQ(receive.bytes, sent.bytes);
  EXPECT_EQ(net.engines[0]->outstanding() + net.engines[1]->outstanding(), 0U);
  EXPECT_EQ(net.engines[0]->awaited(9).size(), 0U);
}

/// RandomProgram programs over several engines, some of which fail: the living hear of it at
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
