// Thousands of random programs over engines joined by a network that delays and reorders frames at
// will, in virtual time. The results are checked against the standard's own words, not against a
// second implementation of matching. One file: programs, network and checks are of one simulation,
// which they all read and change.
#include "core/engine/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <random>

#include "core/wire/message_body.hpp"

namespace isthmus::core {
namespace {

constexpr int kRankOfNode = 100;  // ranks in communicators differ from node ids

std::byte pattern(std::size_t message, std::size_t offset) {
  return static_cast<std::byte>((message * 131 + offset * 7 + (offset >> 8)) & 0xFF);
}

struct Message {
  std::size_t id = 0;
  NodeId from = 0;
  std::uint64_t number = 0;  // among those from `from` to the same receiver
  std::vector<std::byte> data;
  SendOp op;
  std::size_t there = 0;     // bytes of `data` that are; the others come later
  bool spoilt = false;       // they do not
  std::size_t taken_at = 0;  // when its receive was posted; 0: not known to be taken
  bool scribbled = false;
};

struct Receive {
  std::size_t posted_at = 0;
  std::size_t capacity = 0;
  std::vector<std::byte> data;
  std::vector<std::byte> prefix;  // as its op told of it
  RecvOp op;
  bool cancelled = false;
  bool extracted = false;
  bool checked = false;
  Message* message = nullptr;

  bool wants(std::uint64_t context, int source, int tag) const {
    return op.context == context && (op.source == kAnySource || op.source == source) &&
           (op.tag == kAnyTag || op.tag == tag);
  }
  bool wants(const Message& m) const {
    return wants(m.op.envelope.context, m.op.envelope.source, m.op.envelope.tag);
  }
};

class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {
    const std::size_t windows[] = {0, 60, 100, 500, 2000, 8000};
    limits_.window = windows[below(std::size(windows))];
    limits_.piece = 1 + limits_.window / 16 + below(300);
    limits_.gathered = below(2) * below(3000);
    limits_.read_at_once = 1 + below(2 * limits_.window + 200);
    delay_ = 1 + below(200);
    shuffled_ = below(4) != 0;
    repeating_ = below(3) == 0;
    nodes_.resize(2 + below(3));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].engine = std::make_unique<Engine>(static_cast<NodeId>(i), limits_);
    }
    for (NodeId i = 0; below(2) == 0 && i < nodes_.size(); ++i) lend(i);
  }

  void run() {
    const std::size_t steps = 20 + below(150);
    for (std::size_t i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      act();
      for (std::size_t k = below(6); k > 0; --k) turn();
    }
    settle();
    expect_nothing_stuck();
    drain();
    expect_all_over();
    expect_order();
    expect_memory_untouched();
  }

  // Lent messages that were read, and those that could not be.
  std::size_t read = 0, unreadable = 0, pieces = 0;
  // Pieces whose payload was put at the engine's place; those that another frame overtook.
  std::size_t landed = 0, landed_in_vain = 0;
  std::size_t at_once = 0;   // messages that were sent so
  std::size_t grown = 0;     // times that more of a message under way was there
  std::size_t followed = 0;  // bytes that receives told of before their end
  std::size_t spoilt = 0;    // messages whose sender lost the rest

 private:
  struct Node {
    std::unique_ptr<Engine> engine;
    std::optional<Engine::Reading> reading;
    std::vector<std::unique_ptr<Message>> inbox;  // every message ever sent to it
    std::deque<std::unique_ptr<Receive>> receives;
    std::vector<std::pair<std::size_t, std::shared_ptr<Extracted>>> extracted;
    std::size_t dropped = 0;
  };
  struct Frame {
    FrameKind kind;
    NodeId source, destination;
    std::vector<std::byte> body;
    std::uint8_t flags = 0;
    std::size_t placed = 0;  // half of the body's end has been put at the engine's place
  };

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  NodeId some_node() { return static_cast<NodeId>(below(nodes_.size())); }
  int some_source() {
    return below(3) == 0 ? kAnySource : kRankOfNode + static_cast<int>(some_node());
  }
  int some_tag() { return below(3) == 0 ? kAnyTag : static_cast<int>(below(3)); }
  std::size_t some_size() {
    switch (below(5)) {
      case 0:
        return 0;
      case 1:
        return below(50);
      case 2:
        return below(limits_.piece + 2);
      case 3:
        return below(limits_.window + 2);
      default:
        return below(3 * limits_.window + 200);
    }
  }

  // A node reads messages that the others lend it; now and then the read fails.
  void lend(NodeId to) {
    for (NodeId from = 0; from < nodes_.size(); ++from) {
      if (from == to) continue;
      nodes_[to].engine->read_from(from, [this](std::uint64_t at, std::span<std::byte> into) {
        const bool readable = below(4) != 0;
        ++(readable ? read : unreadable);
        const std::size_t bytes = readable ? into.size() : below(into.size());
        std::memcpy(into.data(), reinterpret_cast<const std::byte*>(at), bytes);
        return readable;
      });
      nodes_[from].engine->lend_to(to, below(limits_.window + 100));
    }
  }

  // ---- the programs --------------------------------------------------------------------------

  void act() {
    Node& node = nodes_[some_node()];
    switch (below(10)) {
      case 0:
        return cancel_one(node);
      case 1:
        return extract_one(node, below(3), some_source(), some_tag());
      case 2:
        return receive_extracted(node);
      case 3:
      case 4:
      case 5:
        return post(node, below(2), some_source(), some_tag());
      default:
        return send();
    }
  }

  void send() {
    const NodeId from = some_node();
    NodeId to = some_node();
    if (from == to) to = (to + 1) % static_cast<NodeId>(nodes_.size());
    auto message = std::make_unique<Message>();
    message->id = ++clock_;
    message->from = from;
    message->number = numbers_[{from, to}]++;
    message->data.resize(some_size());
    SendOp& op = message->op;
    const bool grows = below(4) == 0;
    fill(*message, grows ? below(message->data.size() + 1) : message->data.size());
    if (grows) op.ready = message->there;
    op.peer = to;
    op.envelope = {.context = below(2),
                   .source = kRankOfNode + static_cast<int>(from),
                   .tag = static_cast<int>(below(3)),
                   .size = 0};
    op.data = message->data;
    op.synchronous = below(4) == 0;
    Engine& engine = *nodes_[from].engine;
    OutFrame out;
    if (below(2) == 0 && engine.send_at_once(op, out)) {
      ++at_once;
      EXPECT_LE(out.head_size + out.payload.size(), kExpressBody);
      put_on_wire(from, out);
      if (below(2) == 0) engine.payload_copied();
    } else {
      engine.send(op);
    }
    nodes_[to].inbox.push_back(std::move(message));
  }

  static void fill(Message& message, std::size_t end) {
    for (; message.there < end; ++message.there) {
      message.data[message.there] = pattern(message.id, message.there);
    }
  }

  // More of a message is there, or its rest is lost.
  bool grow(Message& message, std::size_t bytes) {
    if (message.there == message.data.size() || message.spoilt) return false;
    if (below(8) == 0) {
      message.spoilt = true;
      nodes_[message.from].engine->spoil(message.op, "lost " + std::to_string(message.id));
      ++spoilt;
      return true;
    }
    fill(message, std::min(message.data.size(), message.there + bytes));
    nodes_[message.from].engine->extend(message.op, message.there);
    ++grown;
    return true;
  }

  Receive& new_receive(Node& node, std::size_t capacity) {
    auto receive = std::make_unique<Receive>();
    receive->capacity = capacity;
    receive->data.assign(capacity + 8, std::byte{0xEE});
    receive->op.buffer = receive->data.data();
    receive->op.capacity = capacity;
    receive->op.follow = below(2) * (1 + below(500));
    receive->posted_at = ++clock_;
    node.receives.push_back(std::move(receive));
    return *node.receives.back();
  }

  void post(Node& node, std::uint64_t context, int source, int tag) {
    const std::size_t most = 3 * limits_.window + 200;
    Receive& receive = new_receive(node, below(5) == 0 ? below(most) : most);
    receive.op.context = context;
    receive.op.source = source;
    receive.op.tag = tag;
    const auto seen = node.engine->probe(context, source, tag);
    node.engine->recv(receive.op);
    if (seen) {
      ASSERT_FALSE(node.engine->cancel(receive.op));
    }
  }

  void cancel_one(Node& node) {
    for (const auto& receive : node.receives) {
      if (receive->op.done() || receive->cancelled || receive->extracted || below(3) != 0) continue;
      receive->cancelled = node.engine->cancel(receive->op);
      return;
    }
  }

  void extract_one(Node& node, std::uint64_t context, int source, int tag) {
    const auto seen = node.engine->probe(context, source, tag);
    auto message = node.engine->extract(context, source, tag);
    ASSERT_EQ(seen.has_value(), message != nullptr);
    if (!message) return;
    ASSERT_EQ(Engine::envelope(*message).size, seen->size);
    ASSERT_EQ(Engine::envelope(*message).tag, seen->tag);
    node.extracted.emplace_back(++clock_, std::move(message));
  }

  void receive_extracted(Node& node) {
    if (node.extracted.empty()) return;
    auto [when, message] = std::move(node.extracted.back());
    node.extracted.pop_back();
    if (below(8) == 0) {
      ++node.dropped;
      return;
    }
    Receive& receive = new_receive(node, static_cast<std::size_t>(Engine::envelope(*message).size));
    receive.posted_at = when;
    receive.extracted = true;
    node.engine->recv(message, receive.op);
  }

  // ---- the network ---------------------------------------------------------------------------

  // Lets some node send a few frames, or the next frames arrive.
  void turn() {
    for (Node& node : nodes_) {
      if (below(3) == 0) read_piece(node);
      for (const auto& message : node.inbox) {
        if (below(10) == 0) grow(*message, 1 + below(1000));
      }
    }
    if (below(2) == 0) {
      pull(some_node(), 1 + below(8));
    } else {
      for (std::size_t k = 1 + below(8); k > 0 && !wire_.empty(); --k) arrive();
    }
  }

  // Begins to read a piece of a lent message, or ends that; frames come in between.
  bool read_piece(Node& node) {
    if (!node.reading) {
      node.reading = node.engine->next_reading();
      return node.reading.has_value();
    }
    const Engine::Reading piece = *std::exchange(node.reading, std::nullopt);
    ++pieces;
    node.engine->end_reading(piece, piece.read());
    check_done();
    return true;
  }

  void put_on_wire(NodeId node, const OutFrame& out) {
    EXPECT_EQ(out.source, node);
    EXPECT_LE(out.head_size + out.payload.size(), kMaxBody);
    std::vector<std::byte> body(out.head.begin(), out.head.begin() + out.head_size);
    body.insert(body.end(), out.payload.begin(), out.payload.end());
    const std::uint64_t when = now_ + (shuffled_ ? below(delay_) : delay_);
    const Frame frame{.kind = out.kind,
                      .source = out.source,
                      .destination = out.destination,
                      .body = std::move(body)};
    // A way that is lost: its frames come again on another one, and may have arrived.
    const bool again = repeating_ && below(4) == 0;
    if (again) {
      Frame repeated = frame;
      repeated.flags = kRepeated;
      wire_.emplace(when + below(3 * delay_), std::move(repeated));
    }
    if (!again || below(2) == 0) wire_.emplace(when, frame);
  }

  bool pull(NodeId node, std::size_t frames) {
    Engine& engine = *nodes_[node].engine;
    bool any = false;
    OutFrame out;
    for (; frames > 0; --frames) {
      const bool expected = engine.has_output();
      if (!engine.next_frame(out)) break;
      EXPECT_TRUE(expected);
      put_on_wire(node, out);
      any = true;
    }
    if (below(2) == 0) engine.payload_copied();
    check_done();
    return any;
  }

  void arrive() {
    const auto first = wire_.begin();
    now_ = first->first;
    Frame frame = std::move(first->second);
    wire_.erase(first);
    Engine& engine = *nodes_[frame.destination].engine;
    InFrame in{.kind = frame.kind,
               .source = frame.source,
               .destination = frame.destination,
               .body = frame.body,
               .flags = frame.flags};
    if (frame.placed > 0 || (frame.kind == FrameKind::Piece && below(2) == 0)) {
      in.body = in.body.first(PieceBody::kSize);
      in.placed = frame.body.size() - PieceBody::kSize;
      const Landing landing = engine.place(in);
      const auto place = landing.payload;
      // A driver may read anything there, while no other frame lands.
      const bool others =
          std::ranges::any_of(wire_, [](const auto& w) { return w.second.placed > 0; });
      if (!others) std::ranges::fill(landing.behind, std::byte{0xEE});
      const auto payload = std::span<const std::byte>(frame.body).last(in.placed);
      if (frame.placed == 0 && place.empty()) {
        in.body = frame.body;
        in.placed = 0;
      } else {
        ASSERT_TRUE(place.empty() || place.size() == payload.size());
        // Half now, the other half later.
        const std::size_t begin = frame.placed == 0 ? 0 : payload.size() / 2;
        const std::size_t end = frame.placed == 0 ? payload.size() / 2 : payload.size();
        for (std::size_t i = begin; i < end && !place.empty(); ++i) place[i] = payload[i];
        if (std::exchange(frame.placed, in.placed) == 0) {
          wire_.emplace(now_ + below(2 * delay_), std::move(frame));
          return;
        }
        if (place.empty()) ++landed_in_vain;
        ++landed;
      }
    }
    ASSERT_TRUE(engine.deliver(in)) << (frame.flags == 0 ? "a frame" : "a repeated frame");
    ASSERT_LE(engine.figures(frame.source).buffered, limits_.window);
    check_done();
  }

  void settle() {
    for (bool moved = true; moved && !testing::Test::HasFatalFailure();) {
      moved = !wire_.empty();
      if (moved) arrive();
      for (NodeId i = 0; i < nodes_.size(); ++i) moved |= pull(i, 1000);
      for (Node& node : nodes_) {
        moved |= read_piece(node);
        for (const auto& message : node.inbox) moved |= grow(*message, 1 + below(1000));
      }
    }
  }

  // ---- what must hold ------------------------------------------------------------------------

  // A finished send's memory is the program's again; a finished receive holds the right bytes.
  void check_done() {
    std::uint64_t events = 0;
    for (const Node& node : nodes_) events += node.engine->events();
    if (events == std::exchange(events_, events)) return;
    for (Node& node : nodes_) {
      for (const auto& message : node.inbox) {
        if (!message->op.done() || message->scribbled) continue;
        message->scribbled = true;
        std::fill(message->data.begin(), message->data.end(), std::byte{0xDD});
      }
      for (const auto& receive : node.receives) {
        if (receive->op.done() && !receive->checked) check_received(node, *receive);
        const std::size_t prefix = receive->checked ? 0 : receive->op.prefix.load();
        if (prefix <= receive->prefix.size()) continue;
        ASSERT_GE(prefix, receive->prefix.size() + receive->op.follow);
        followed += prefix - receive->prefix.size();
        receive->prefix.assign(receive->op.buffer, receive->op.buffer + prefix);
      }
    }
  }

  void check_received(Node& node, Receive& receive) {
    receive.checked = true;
    const RecvOp& op = receive.op;
    Message* message = nullptr;
    for (const auto& m : node.inbox) {
      if (m->from == op.peer && m->number == op.number) message = m.get();
    }
    ASSERT_NE(message, nullptr);
    ASSERT_EQ(message->taken_at, 0U) << "received twice";
    message->taken_at = receive.posted_at;
    receive.message = message;
    const Envelope& sent = message->op.envelope;
    ASSERT_EQ(op.envelope.size, message->data.size());
    ASSERT_EQ(op.envelope.source, sent.source);
    ASSERT_EQ(op.envelope.tag, sent.tag);
    ASSERT_EQ(op.envelope.context, sent.context);
    if (!receive.extracted) {
      ASSERT_TRUE(receive.wants(*message));
    }
    ASSERT_EQ(op.error == OpError::Spoilt, message->spoilt);
    if (message->spoilt) return check_spoilt(receive, *message);
    const std::size_t stored = std::min(message->data.size(), receive.capacity);
    ASSERT_LE(receive.prefix.size(), stored);
    ASSERT_TRUE(std::equal(receive.prefix.begin(), receive.prefix.end(), receive.data.begin()))
        << "a byte that was told of has changed";
    ASSERT_EQ(op.received, stored);
    ASSERT_EQ(op.error, stored < message->data.size() ? OpError::Truncated : OpError::None);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < receive.data.size(); ++i) {
      wrong += receive.data[i] != (i < stored ? pattern(message->id, i) : std::byte{0xEE});
    }
    ASSERT_EQ(wrong, 0U) << "of " << receive.data.size() << " bytes";
    std::fill(receive.data.begin(), receive.data.end(), std::byte{0xDD});
  }

  // Each byte is as before, or of the message; none of those that told of themselves has changed.
  static void check_spoilt(Receive& receive, const Message& message) {
    ASSERT_EQ(*receive.op.spoilt, "lost " + std::to_string(message.id));
    ASSERT_EQ(receive.op.received, 0U);
    ASSERT_TRUE(std::equal(receive.prefix.begin(), receive.prefix.end(), receive.data.begin()));
    ASSERT_LE(receive.prefix.size(), message.there);
    for (std::size_t i = 0; i < receive.data.size(); ++i) {
      const bool sent = i < message.there && receive.data[i] == pattern(message.id, i);
      ASSERT_TRUE(sent || receive.data[i] == std::byte{0xEE}) << "byte " << i;
    }
    std::fill(receive.data.begin(), receive.data.end(), std::byte{0xDD});
  }

  // A received message is the program's: the engine does not write there any more.
  void expect_memory_untouched() {
    for (const Node& node : nodes_) {
      for (const auto& receive : node.receives) {
        const bool untouched = std::all_of(receive->data.begin(), receive->data.end(),
                                           [](std::byte b) { return b == std::byte{0xDD}; });
        ASSERT_TRUE(!receive->checked || untouched);
      }
    }
  }

  // When the network is at rest, no receive waits for a message that has been sent.
  void expect_nothing_stuck() {
    for (Node& node : nodes_) {
      for (const auto& receive : node.receives) {
        if (receive->op.done() || receive->cancelled) continue;
        ASSERT_FALSE(receive->extracted) << "a matched receive does not end";
        const RecvOp& op = receive->op;
        ASSERT_FALSE(node.engine->probe(op.context, op.source, op.tag));
        for (const auto& message : node.inbox) {
          ASSERT_FALSE(node.dropped == 0 && node.extracted.empty() && message->taken_at == 0 &&
                       receive->wants(*message))
              << "a message was sent and a receive posted, but they did not meet";
        }
      }
      // Within the window, a standard send does not wait for its receive.
      for (const auto& message : node.inbox) {
        if (message->op.done()) continue;
        ASSERT_EQ(message->taken_at, 0U);
        ASSERT_TRUE(message->op.synchronous || message->op.waits);
      }
    }
  }

  // Receives all that is left.
  void drain() {
    for (Node& node : nodes_) {
      for (const auto& receive : node.receives) {
        if (!receive->op.done() && !receive->cancelled) {
          receive->cancelled = node.engine->cancel(receive->op);
          ASSERT_TRUE(receive->cancelled);
        }
      }
      while (!node.extracted.empty()) receive_extracted(node);
      for (std::uint64_t context = 0; context < 2; ++context) {
        while (node.engine->probe(context, kAnySource, kAnyTag)) {
          post(node, context, kAnySource, kAnyTag);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
    settle();
  }

  void expect_all_over() {
    for (NodeId i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      std::size_t lost = 0;
      for (const auto& message : node.inbox) {
        ASSERT_TRUE(message->op.done());
        lost += message->taken_at == 0;
      }
      ASSERT_EQ(lost, node.dropped);
      ASSERT_EQ(node.engine->outstanding(), 0U);
      ASSERT_EQ(node.engine->buffered_bytes(), 0U);
      for (NodeId k = 0; k < nodes_.size(); ++k) {
        if (i == k) continue;
        ASSERT_EQ(node.engine->figures(k).window_left + nodes_[k].engine->figures(i).credit_due,
                  limits_.window)
            << "credit has leaked";
      }
    }
  }

  // MPI-4.1 section 3.5, "Order".
  void expect_order() {
    for (Node& node : nodes_) {
      for (const auto& r : node.receives) {
        if (r->message == nullptr) continue;
        const Message& taken = *r->message;
        for (const auto& earlier : node.inbox) {
          // An earlier message of the same sender that this receive could have taken went to a
          // receive posted before it.
          if (r->extracted || earlier->from != taken.from || earlier->number >= taken.number ||
              !r->wants(*earlier) || (earlier->taken_at == 0 && node.dropped > 0)) {
            continue;
          }
          ASSERT_NE(earlier->taken_at, 0U);
          ASSERT_LT(earlier->taken_at, r->posted_at);
        }
        for (const auto& before : node.receives) {
          // An earlier receive that could have taken this message had taken another one.
          if (before->cancelled || before->extracted || r->extracted ||
              before->posted_at >= r->posted_at || !before->wants(taken)) {
            continue;
          }
          ASSERT_NE(before->message, nullptr);
          if (before->message->from == taken.from) {
            ASSERT_LT(before->message->number, taken.number);
          }
        }
      }
    }
  }

  std::mt19937 random_;
  Limits limits_;
  std::size_t delay_ = 1;
  bool shuffled_ = true;
  bool repeating_ = false;
  std::vector<Node> nodes_;
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> numbers_;
  std::multimap<std::uint64_t, Frame> wire_;
  std::uint64_t now_ = 0;
  std::uint64_t events_ = 0;
  std::size_t clock_ = 0;
};

class EngineShard : public testing::TestWithParam<unsigned> {};

TEST_P(EngineShard, RandomProgramsOverAReorderingNetwork) {
  std::size_t landed = 0, landed_in_vain = 0, read = 0, unreadable = 0, pieces = 0, at_once = 0;
  std::size_t grown = 0, followed = 0, spoilt = 0;
  for (unsigned seed = GetParam(); seed < GetParam() + 600; ++seed) {
    Simulation simulation(seed);
    simulation.run();
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "seed " << seed;
    }
    landed += simulation.landed;
    landed_in_vain += simulation.landed_in_vain;
    read += simulation.read;
    unreadable += simulation.unreadable;
    pieces += simulation.pieces;
    at_once += simulation.at_once;
    grown += simulation.grown;
    followed += simulation.followed;
    spoilt += simulation.spoilt;
  }
  EXPECT_GT(landed, 0U);
  EXPECT_GT(read, 0U);
  EXPECT_GT(unreadable, 0U);
  EXPECT_GT(pieces, 0U);
  EXPECT_GT(at_once, 0U);
  EXPECT_GT(grown, 0U);
  EXPECT_GT(followed, 0U);
  EXPECT_GT(spoilt, 0U);
  EXPECT_GT(landed_in_vain, 0U) << "no double was faster";
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineShard, testing::Values(0U, 1000U, 2000U, 3000U));

}  // namespace
}  // namespace isthmus::core
