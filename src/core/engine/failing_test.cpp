// Peers that fail, and operations that end before their messages do.

#include "core/engine/failing_testbed.hpp"

namespace isthmus::core {
namespace {

/// Large messages need several pieces, and wait for room.
Limits small_window() { return {.window = 1000, .piece = 100}; }

template <class Op>
void expect_end(const Op& op, OpError error) {
  ASSERT_TRUE(op.done());
  EXPECT_EQ(op.error, error);
}

TEST(Failing, AReceiveFromAFailedPeerEnds) {
  PairedEngines net(3);
  PlainReceive lost(1, 8), other(2, 8), any(kAnySource, 8);
  net.engines[0]->recv(lost);
  net.engines[0]->recv(other);
  net.engines[0]->recv(any);
  const auto before = net.engines[0]->events();
  net.engines[0]->fail(1, 1);
  EXPECT_NE(net.engines[0]->events(), before);
  expect_end(lost, OpError::Failed);
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
  expect_end(first, OpError::None);
  EXPECT_EQ(first.bytes, sent.bytes);
  net.engines[0]->recv(second);
  expect_end(second, OpError::Failed);
}

TEST(Failing, AMessageThatLacksDataEnds) {
  PairedEngines net(2, small_window());
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
  expect_end(receive, OpError::Failed);
  PlainReceive late(1, 5000);
  net.engines[0]->recv(taken, late);
  expect_end(late, OpError::Failed);
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
  EXPECT_EQ(net.engines[0]->buffered_bytes(), 0U);
}

TEST(Failing, SendsToAFailedPeerEnd) {
  PairedEngines net(2, small_window());
  PlainSend large(0, 1, 5000), small(0, 1, 8), synchronous(0, 1, 8);
  synchronous.synchronous = true;
  net.engines[0]->send(large);
  net.engines[0]->send(synchronous);
  net.collect(0);
  EXPECT_FALSE(large.done());
  net.engines[0]->fail(1, 1);
  for (const SendOp* const op : {&large, &synchronous}) expect_end(*op, OpError::Failed);
  net.engines[0]->send(small);
  expect_end(small, OpError::Failed);
  OutFrame frame;
  EXPECT_FALSE(net.engines[0]->send_at_once(small, frame));
  EXPECT_FALSE(net.engines[0]->has_output());
  net.engines[0]->post(1, {.context = kServiceContext}, std::vector<std::byte>(9));
  EXPECT_FALSE(net.engines[0]->has_output());
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
}

// A part of the message may go without a grant, and has not gone yet.
TEST(Failing, ASendWithPiecesLeftEndsOnce) {
  PairedEngines net(2, small_window());
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
  expect_end(behind, OpError::None);
  expect_end(lost, OpError::Failed);
}

TEST(Failing, MessagesOfServicesAreDropped) {
  PairedEngines net(3, small_window());
  CountingService service;
  net.engines[0]->serve(kServiceContext, service);
  net.engines[1]->post(0, {.context = kServiceContext}, std::vector<std::byte>(5000));
  net.collect(1);
  while (net.deliver(1, 0)) {
  }
  net.engines[0]->fail(1, 1);
  EXPECT_TRUE(service.taken.empty());
  EXPECT_EQ(service.failed, (std::vector<std::pair<NodeId, NodeId>>{{1, 1}}));
  EXPECT_EQ(net.engines[0]->outstanding(), 0U);
  net.engines[2]->post(0, {.context = kServiceContext}, std::vector<std::byte>(5));
  net.settle();
  EXPECT_EQ(service.taken, std::vector<std::size_t>{5});
}

TEST(Failing, ASendThatIsGivenUpArrives) {
  for (const bool announced : {false, true}) {
    PairedEngines net(2, small_window());
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

TEST(Failing, ASpoiltSendThatIsGivenUpSpoilsItsReceive) {
  for (const bool announced : {false, true}) {
    PairedEngines net(2, {.window = 1000, .piece = 100});
    auto sent = std::make_unique<PlainSend>(0, 1, 5000);
    PlainSend after(0, 1, 8, 1);
    sent->ready = 300;
    net.engines[0]->send(*sent);
    net.engines[0]->send(after);
    if (announced) net.collect(0);
    net.engines[0]->spoil(*sent, "why");
    net.engines[0]->give_up(*sent);
    sent.reset();
    PlainReceive receive(0, 5000, 0), second(0, 8, 1);
    net.engines[1]->recv(receive);
    net.engines[1]->recv(second);
    net.settle();
    ASSERT_TRUE(receive.done());
    EXPECT_EQ(receive.error, OpError::Spoilt);
    EXPECT_EQ(*receive.spoilt, "why");
    EXPECT_EQ(second.error, OpError::None);
    EXPECT_EQ(net.engines[0]->outstanding(), 0U);
  }
}

TEST(Failing, AReceiveThatIsGivenUpTakesNoMore) {
  PairedEngines net(2, small_window());
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

}  // namespace
}  // namespace isthmus::core
