// The semantics of matching, with two engines and a network that delivers at once.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/engine/engine.hpp"

namespace isthmus::core {
namespace {

struct Send : SendOp {
  Send(const std::string& text, int tag, std::uint64_t context = 0, bool sync = false)
      : bytes(text) {
    peer = 1;
    envelope = {.context = context, .source = 7, .tag = tag, .size = 0};
    data = std::as_bytes(std::span(bytes));
    synchronous = sync;
  }
  std::string bytes;
};

struct Recv : RecvOp {
  explicit Recv(int tag_ = kAnyTag, int source_ = kAnySource, std::uint64_t context_ = 0,
                std::size_t room = 1 << 20)
      : bytes(room, '?') {
    tag = tag_;
    source = source_;
    context = context_;
    buffer = reinterpret_cast<std::byte*>(bytes.data());
    capacity = room;
  }
  std::string text() const { return bytes.substr(0, received); }
  std::string bytes;
};

class Matching : public testing::Test {
 protected:
  // Moves frames until both sides are quiet.
  void run() {
    OutFrame out;
    for (bool moved = true; moved;) {
      moved = false;
      while (from.next_frame(out)) moved = pass(out, to);
      while (to.next_frame(out)) moved = pass(out, from);
    }
  }
  void send(auto&... messages) {
    (from.send(messages), ...);
    run();
  }
  void post(auto&... receives) { (to.recv(receives), ...); }
  static bool pass(const OutFrame& out, Engine& engine) {
    std::vector<std::byte> body(out.head.begin(), out.head.begin() + out.head_size);
    body.insert(body.end(), out.payload.begin(), out.payload.end());
    EXPECT_TRUE(engine.deliver({out.kind, out.source, out.destination, body}));
    return true;
  }

  Limits limits{.window = 4096, .piece = 256};
  Engine from{0, limits};
  Engine to{1, limits};
};

TEST_F(Matching, TakesTheEarliestOfSeveralMessages) {
  Send a("first", 1), b("second", 1);
  send(a, b);
  EXPECT_TRUE(a.done() && b.done());
  Recv x(1), y(1);
  post(x, y);
  EXPECT_EQ(x.text(), "first");
  EXPECT_EQ(y.text(), "second");
  EXPECT_EQ(x.envelope.source, 7);
  EXPECT_EQ(x.peer, 0U);
}

TEST_F(Matching, ServesTheEarliestOfSeveralReceives) {
  Recv other(2), any, named(1, 7);
  post(other, any, named);
  Send a("a", 1), b("b", 1);
  send(a, b);
  EXPECT_EQ(any.text(), "a");
  EXPECT_EQ(named.text(), "b");
  EXPECT_FALSE(other.done());
}

TEST_F(Matching, KeepsContextsAndSourcesApart) {
  Recv context(1, 7, 5), source(1, 8);
  post(context, source);
  Send a("a", 1);
  send(a);
  EXPECT_FALSE(context.done());
  EXPECT_FALSE(source.done());
  EXPECT_FALSE(to.probe(5, kAnySource, kAnyTag));
  EXPECT_FALSE(to.probe(0, 8, kAnyTag));
  EXPECT_TRUE(to.probe(0, 7, 1));
}

TEST_F(Matching, ProbeShowsAndLeavesTheFirstMessage) {
  Send a("aaaa", 3), b("b", 4);
  from.send(a);
  from.send(b);
  EXPECT_FALSE(to.probe(0, kAnySource, kAnyTag));
  const auto before = to.events();
  run();
  EXPECT_NE(to.events(), before);
  for (int i = 0; i < 2; ++i) {
    const auto seen = to.probe(0, kAnySource, kAnyTag);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->tag, 3);
    EXPECT_EQ(seen->size, 4U);
  }
  EXPECT_EQ(to.probe(0, 7, 4)->size, 1U);
  EXPECT_FALSE(to.probe(0, 7, 5));
}

TEST_F(Matching, CancelTakesBackOnlyWhatHasNotMatched) {
  Recv a(1), b(1);
  EXPECT_TRUE(to.cancel(a));
  post(a, b);
  EXPECT_EQ(to.outstanding(), 2U);
  EXPECT_TRUE(to.cancel(a));
  EXPECT_EQ(a.state.load(), OpState::Idle);
  EXPECT_EQ(to.outstanding(), 1U);
  Send s("x", 1);
  send(s);
  EXPECT_FALSE(a.done());
  EXPECT_TRUE(b.done());
  EXPECT_FALSE(to.cancel(b));
  EXPECT_TRUE(b.done());
}

TEST_F(Matching, CancelLeavesAReceiveThatHasMatchedButNotEnded) {
  Send s(std::string(10'000, 'x'), 1);
  Recv r(1);
  to.recv(r);
  from.send(s);
  OutFrame out;
  ASSERT_TRUE(from.next_frame(out));
  pass(out, to);
  EXPECT_FALSE(to.cancel(r));
  run();
  EXPECT_TRUE(r.done());
  EXPECT_EQ(r.text(), s.bytes);
}

TEST_F(Matching, AWithheldReceiveKeepsItsPlace) {
  Recv wild, later(1, 7);
  post(wild, later);
  ASSERT_TRUE(to.withhold(wild));
  Recv meanwhile(1);
  to.recv(meanwhile);
  Send a("a", 1), b("b", 1), c(std::string(10'000, 'c'), 1), d("d", 1, 5);
  Recv elsewhere(1, 7, 5);
  to.recv(elsewhere);
  send(a, b, c, d);
  EXPECT_TRUE(elsewhere.done());  // of another context
  EXPECT_FALSE(wild.done() || later.done() || meanwhile.done());
  EXPECT_FALSE(to.probe(0, kAnySource, kAnyTag));
  EXPECT_EQ(to.extract(0, kAnySource, kAnyTag), nullptr);
  to.release(wild, false);
  run();
  EXPECT_EQ(wild.text(), "a");
  EXPECT_EQ(later.text(), "b");
  EXPECT_EQ(meanwhile.text(), c.bytes);
  EXPECT_EQ(to.outstanding(), 0U);
  EXPECT_EQ(to.buffered_bytes(), 0U);
}

TEST_F(Matching, AReceiveServedElsewhereLeavesItsMessagesToTheNext) {
  Send early("early", 2);
  send(early);
  Recv wild(1), later(1, 7);
  post(wild, later);
  ASSERT_TRUE(to.withhold(wild));
  Recv posted(2);
  to.recv(posted);
  EXPECT_FALSE(posted.done());
  Send a("a", 1), b("b", 1);
  send(a, b);
  to.release(wild, true);
  EXPECT_EQ(wild.state.load(), OpState::Idle);
  EXPECT_EQ(later.text(), "a");
  EXPECT_EQ(posted.text(), "early");
  EXPECT_TRUE(to.probe(0, 7, 1));  // b
  EXPECT_EQ(to.outstanding(), 0U);
  to.recv(wild);
  EXPECT_EQ(wild.text(), "b");
  EXPECT_FALSE(to.withhold(wild));  // it has matched
  EXPECT_TRUE(wild.done());
}

TEST_F(Matching, TruncatesAndSaysSo) {
  for (const std::size_t size : {std::size_t{11}, std::size_t{300}, std::size_t{20'000}}) {
    for (const bool posted : {true, false}) {
      Send s(std::string(size, 's'), 1);
      Recv r(1, kAnySource, 0, 10);
      r.bytes += "guard";
      if (posted) to.recv(r);
      send(s);
      if (!posted) to.recv(r);
      run();
      ASSERT_TRUE(r.done() && s.done());
      EXPECT_EQ(r.error, OpError::Truncated);
      EXPECT_EQ(r.envelope.size, size);
      EXPECT_EQ(r.received, 10U);
      EXPECT_EQ(r.bytes, "ssssssssssguard");
    }
  }
  EXPECT_EQ(to.buffered_bytes(), 0U);
}

TEST_F(Matching, AReceiveOfNoBytesNeedsNoBuffer) {
  Recv r(1, kAnySource, 0, 0);
  r.buffer = nullptr;
  to.recv(r);
  Send s("", 1);
  send(s);
  EXPECT_TRUE(r.done() && s.done());
  EXPECT_EQ(r.error, OpError::None);
}

TEST_F(Matching, ExtractTakesAMessageOutOfMatching) {
  Send a(std::string(9000, 'a'), 1), b("b", 1);
  send(a, b);
  const auto message = to.extract(0, kAnySource, kAnyTag);
  ASSERT_TRUE(message);
  EXPECT_EQ(Engine::envelope(*message).size, 9000U);
  EXPECT_EQ(to.outstanding(), 1U);
  Recv next(1);
  to.recv(next);
  run();
  EXPECT_EQ(next.text(), "b");
  EXPECT_FALSE(to.extract(0, kAnySource, kAnyTag));
  Recv r;
  to.recv(message, r);
  EXPECT_THROW(to.recv(message, r), std::logic_error);
  run();
  EXPECT_EQ(r.text(), a.bytes);
  EXPECT_TRUE(a.done());
  EXPECT_EQ(to.outstanding(), 0U);
}

TEST_F(Matching, AnExtractedMessageMayBeDroppedAnywhere) {
  Send a(std::string(9000, 'a'), 1, 0, true);
  send(a);
  auto message = to.extract(0, kAnySource, kAnyTag);
  ASSERT_TRUE(message);
  std::thread([&] { message.reset(); }).join();
  run();
  EXPECT_TRUE(a.done());
  EXPECT_EQ(to.outstanding(), 0U);
  EXPECT_EQ(to.buffered_bytes(), 0U);

  std::shared_ptr<Extracted> orphan;
  {
    Engine gone{1, limits};
    Engine peer{0, limits};
    Send s("x", 1);
    peer.send(s);
    OutFrame out;
    ASSERT_TRUE(peer.next_frame(out));
    pass(out, gone);
    orphan = gone.extract(0, kAnySource, kAnyTag);
  }
  ASSERT_TRUE(orphan);
  EXPECT_EQ(Engine::envelope(*orphan).size, 1U);
}

TEST_F(Matching, ASynchronousSendWaitsForItsReceive) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{9000}}) {
    Send s(std::string(size, 's'), 1, 0, true);
    send(s);
    EXPECT_FALSE(s.done());
    EXPECT_EQ(from.outstanding(), 1U);
    Recv r(1);
    to.recv(r);
    run();
    EXPECT_TRUE(s.done());
    EXPECT_EQ(r.text(), s.bytes);
  }
}

TEST_F(Matching, ASendIsDoneOnlyOnceItsBytesAreCopied) {
  Send s("payload", 1);
  from.send(s);
  OutFrame out;
  ASSERT_TRUE(from.next_frame(out));
  EXPECT_FALSE(s.done());
  EXPECT_TRUE(from.has_output());
  from.payload_copied();
  EXPECT_TRUE(s.done());
  EXPECT_FALSE(from.has_output());
}

TEST_F(Matching, AGrantDoesNotFinishASendWhoseBytesAreStillLent) {
  Send s("payload", 1, 0, true);
  Recv r(1);
  to.recv(r);
  from.send(s);
  OutFrame out, grant;
  ASSERT_TRUE(from.next_frame(out));
  pass(out, to);
  ASSERT_TRUE(to.next_frame(grant));
  EXPECT_EQ(grant.kind, FrameKind::Grant);
  pass(grant, from);
  EXPECT_FALSE(s.done());
  EXPECT_FALSE(from.next_frame(out));
  EXPECT_TRUE(s.done());
}

TEST_F(Matching, ALargeUnmatchedMessageDoesNotHideLaterOnes) {
  Send large(std::string(100'000, 'l'), 1), more(std::string(100'000, 'm'), 1);
  Send wanted(std::string(50'000, 'w'), 2);
  from.send(large);
  from.send(more);
  from.send(wanted);
  Recv r(2);
  to.recv(r);
  run();
  EXPECT_EQ(r.text(), wanted.bytes);
  EXPECT_LE(to.buffered_bytes(), limits.window);
  EXPECT_FALSE(large.done() || more.done());
}

TEST_F(Matching, AFloodOfEmptyMessagesIsHeldBack) {
  std::vector<std::unique_ptr<Send>> flood;
  std::size_t done = 0;
  for (int i = 0; i < 1000; ++i) {
    flood.push_back(std::make_unique<Send>("", 1));
    from.send(*flood.back());
    run();
    done += flood.back()->done();
  }
  EXPECT_EQ(done, limits.window / kMessageCharge);
  for (const auto& send : flood) {
    Recv r(1);
    to.recv(r);
    EXPECT_TRUE(r.done());
    run();
    EXPECT_TRUE(send->done());
  }
}

TEST_F(Matching, SmallMessagesOvertakeLargeOnesOnTheWire) {
  Send large(std::string(4000, 'l'), 1), small("s", 2);
  from.send(large);
  from.send(small);
  OutFrame out;
  ASSERT_TRUE(from.next_frame(out));
  EXPECT_EQ(out.kind, FrameKind::Envelope);
  ASSERT_TRUE(from.next_frame(out));
  EXPECT_EQ(out.kind, FrameKind::Envelope);
  EXPECT_EQ(out.payload.size(), 1U);
  ASSERT_TRUE(from.next_frame(out));
  EXPECT_EQ(out.kind, FrameKind::Piece);
}

TEST_F(Matching, ForgetsContextsThatAreNoLongerUsed) {
  // Many communicators come and go while one receive stays posted in the first.
  Recv first(1, kAnySource, 1'000'000);
  to.recv(first);
  for (std::uint64_t context = 0; context < 1000; ++context) {
    Recv r(1, kAnySource, context, 8);
    Send s("x", 1, context);
    to.recv(r);
    send(s);
    ASSERT_TRUE(r.done());
  }
  Send s("first", 1, 1'000'000);
  send(s);
  EXPECT_EQ(first.text(), "first");
}

}  // namespace
}  // namespace isthmus::core
