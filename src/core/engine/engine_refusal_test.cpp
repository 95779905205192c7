// Every breach of the protocol that docs/protocol.md lists is refused, and its lawful neighbour is
// not.
#include <gtest/gtest.h>

#include <vector>

#include "core/engine/one_peer_testbed.hpp"
#include "core/wire/batch.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {
namespace {

class Refusal : public OnePeer {};

TEST_F(Refusal, FramesThatAreNotForAnEngine) {
  const std::vector<std::byte> body(CreditBody::kSize);
  EXPECT_FALSE(engine.deliver({FrameKind::Hello, 1, 0, body}));
  EXPECT_FALSE(engine.deliver({FrameKind::Control, 1, 0, body}));
  EXPECT_FALSE(engine.deliver({static_cast<FrameKind>(77), 1, 0, body}));
  EXPECT_FALSE(engine.deliver({FrameKind::Envelope, 1, 2, body}));
  EXPECT_FALSE(deliver(FrameKind::Piece, PieceBody{0, 0}, 1, kFirstGateway));
  EXPECT_FALSE(deliver(FrameKind::Piece, PieceBody{0, 0}, 1, kNobody));
  EXPECT_TRUE(deliver(FrameKind::Piece, PieceBody{0, 0}, 1));
}

TEST_F(Refusal, WhatHasNotComeLeavesTheReceiveAsItIs) {
  std::fill(memory.begin(), memory.end(), std::byte{7});
  EXPECT_TRUE(envelope(0, 900, 900, 100));
  EXPECT_TRUE(piece(0, 500, 100));
  engine.recv(op);
  for (const std::size_t at : {0, 99, 500, 599}) EXPECT_EQ(memory[at], std::byte{0}) << at;
  for (const std::size_t at : {100, 499, 600, 899}) EXPECT_EQ(memory[at], std::byte{7}) << at;
  EXPECT_TRUE(piece(0, 100, 400));
  EXPECT_TRUE(piece(0, 600, 300));
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + 900,
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_F(Refusal, LentMessagesOfPeersWhoseMemoryIsNotRead) {
  EXPECT_FALSE(lent(0, 100));
  engine.read_from(2, [](std::uint64_t, std::span<std::byte>) { return true; });
  EXPECT_FALSE(lent(0, 100));
  engine.read_from(1, [](std::uint64_t, std::span<std::byte>) { return true; });
  EXPECT_TRUE(lent(0, 100));
  EXPECT_FALSE(lent(0, 100));
}

TEST_F(Refusal, PiecesOfLentMessagesThatAreNotAskedFor) {
  engine.read_from(1, [](std::uint64_t, std::span<std::byte>) { return false; });
  EXPECT_TRUE(lent(0, 100));
  EXPECT_FALSE(piece(0, 0, 10));
  engine.recv(op);
  EXPECT_TRUE(piece(0, 0, 10));
  EXPECT_TRUE(piece(0, 10, 90));
  EXPECT_TRUE(op.done());
}

TEST_F(Refusal, WhatWasNotLentCannotBeTaken) {
  SendOp first, second;
  const std::vector<std::byte> data(300);
  first.data = second.data = data;
  send(first, true);
  EXPECT_FALSE(taken(0));
  engine.lend_to(1, 300);
  send(second, false);
  EXPECT_FALSE(taken(2));
  EXPECT_TRUE(taken(1));
  EXPECT_TRUE(second.done());
  EXPECT_FALSE(taken(1));
  EXPECT_FALSE(first.done());
}

TEST_F(Refusal, NumbersUsedBefore) {
  EXPECT_TRUE(envelope(0, 0, 0));
  EXPECT_FALSE(envelope(0, 0, 0));
  EXPECT_TRUE(envelope(2, 0, 0));
  EXPECT_FALSE(envelope(2, 0, 0));
  EXPECT_TRUE(envelope(1, 0, 0));
}

TEST_F(Refusal, BatchesBeyondTheWindowOrUsedBefore) {
  Batches batches(8192);
  const auto body = [&](std::uint64_t number, int messages) {
    for (int i = 0; i < messages; ++i) {
      EXPECT_TRUE(batches.add(number + static_cast<std::uint64_t>(i), {}, {}));
    }
    return batches.next();
  };
  const auto taken = [this](std::span<const std::byte> bytes) {
    return engine.deliver({FrameKind::Batch, 1, 0, bytes});
  };
  EXPECT_FALSE(taken(body(0, 3).first(20)));
  EXPECT_FALSE(taken(body(0, 1).first(25)));
  EXPECT_TRUE(taken(body(0, 16)));  // of 64 bytes each
  EXPECT_FALSE(taken(body(16, 1)));
  EXPECT_FALSE(taken(body(3, 1)));
}

TEST_F(Refusal, NumbersOfMessagesReceivedInOneFrame) {
  engine.recv(op);
  EXPECT_TRUE(envelope(0, 4, 4, 4));
  EXPECT_TRUE(op.done());
  EXPECT_FALSE(envelope(0, 4, 4, 4));
  EXPECT_FALSE(piece(0, 0, 1));
}

TEST_F(Refusal, PiecesNotGranted) {
  EXPECT_TRUE(envelope(0, 500, 100, 50));
  EXPECT_FALSE(piece(0, 100, 1));
  engine.recv(op);
  EXPECT_TRUE(piece(0, 100, 1));
}

TEST_F(Refusal, PiecesAcrossAheadOrBeyondTheMessage) {
  engine.recv(op);
  EXPECT_TRUE(envelope(0, 500, 100, 50));
  EXPECT_FALSE(piece(0, 99, 2));
  EXPECT_FALSE(piece(0, 499, 2));
  EXPECT_FALSE(piece(0, 500, 1));
  EXPECT_FALSE(piece(0, ~0ULL - 1, 1));
  EXPECT_TRUE(piece(0, 499, 1));
  EXPECT_TRUE(piece(0, 50, 50));
}

TEST_F(Refusal, MoreBytesThanTheMessageHas) {
  engine.recv(op);
  EXPECT_TRUE(envelope(0, 500, 100, 50));
  EXPECT_TRUE(piece(0, 50, 40));
  EXPECT_FALSE(piece(0, 50, 11));
  EXPECT_TRUE(piece(0, 100, 390));
  EXPECT_FALSE(piece(0, 100, 11));
}

TEST_F(Refusal, BytesThatHaveComeBefore) {
  engine.recv(op);
  EXPECT_TRUE(envelope(0, 500, 400, 50));
  EXPECT_FALSE(piece(0, 49, 2));
  EXPECT_TRUE(piece(0, 100, 20));
  EXPECT_FALSE(piece(0, 90, 11));
  EXPECT_FALSE(piece(0, 119, 1));
  EXPECT_TRUE(piece(0, 120, 1));
}

TEST_F(Refusal, PiecesOfMessagesThatHaveEnded) {
  engine.recv(op);
  EXPECT_TRUE(envelope(0, 500, 500, 200));
  EXPECT_TRUE(piece(0, 200, 300));
  EXPECT_TRUE(op.done());
  EXPECT_FALSE(piece(0, 200, 1));
}

TEST_F(Refusal, EarlyPiecesThatTheirEnvelopeDenies) {
  EXPECT_TRUE(piece(0, 0, 100));
  EXPECT_FALSE(envelope(0, 100, 99)) << "beyond ahead";
  EXPECT_FALSE(envelope(0, 100, 0, 0, false)) << "not charged";
  EXPECT_FALSE(envelope(0, 100, 100, 1)) << "too many bytes";
  EXPECT_TRUE(envelope(0, 100, 100));
  EXPECT_EQ(engine.figures(1).buffered, 100U);
}

TEST_F(Refusal, SpoiltBytesCountAsOthers) {
  EXPECT_FALSE(spoil(0, 0, 0));
  EXPECT_FALSE(spoil(0, 0, 961)) << "beyond the window";
  EXPECT_TRUE(spoil(0, 50, 50));
  EXPECT_FALSE(envelope(0, 500, 99)) << "beyond ahead";
  EXPECT_TRUE(envelope(0, 500, 100, 40));
  EXPECT_FALSE(piece(0, 40, 11)) << "some of it is spoilt";
  EXPECT_FALSE(spoil(0, 100, 400)) << "not granted";
  std::fill(memory.begin(), memory.end(), std::byte{7});
  engine.recv(op);
  EXPECT_FALSE(spoil(0, 40, 11));
  EXPECT_FALSE(spoil(0, 100, 401));
  EXPECT_FALSE(spoil(0, 100, ~0ULL - 100));
  EXPECT_TRUE(spoil(0, 100, 400));
  EXPECT_FALSE(op.done());
  EXPECT_TRUE(piece(0, 40, 10));
  ASSERT_TRUE(op.done());
  EXPECT_EQ(op.error, OpError::Spoilt);
  EXPECT_EQ(op.spoilt->size(), 1U);
  EXPECT_EQ(memory[60], std::byte{7}) << "a byte that has not come";
  EXPECT_EQ(engine.figures(1).buffered, 0U);
  EXPECT_EQ(engine.figures(1).credit_due, 100 + kMessageCharge);
}

TEST_F(Refusal, TheBytesOfAnEnvelopeComeOnce) {
  EXPECT_TRUE(piece(0, 5, 10));
  EXPECT_FALSE(envelope(0, 20, 20, 10));
  EXPECT_FALSE(envelope(0, 20, 20, 6));
  EXPECT_TRUE(envelope(0, 20, 20, 5));
}

TEST_F(Refusal, WordsAreKeptAsFarAsTheWindowHoldsAsMuch) {
  RecvOp other;
  engine.recv(op);
  engine.recv(other);
  EXPECT_TRUE(spoil(0, 0, 3, SpoilBody::kMostText));
  EXPECT_TRUE(envelope(0, 3, 3));
  EXPECT_TRUE(spoil(1, 0, 3, 0));
  EXPECT_TRUE(envelope(1, 3, 3));
  ASSERT_TRUE(op.done() && other.done());
  EXPECT_EQ(*op.spoilt, std::string(3 + kMessageCharge, ' ')) << "no control characters";
  EXPECT_EQ(*other.spoilt, "no reason given");
}

TEST_F(Refusal, NoMessageOfAServiceIsSpoilt) {
  EnvelopeBody body;
  body.envelope = {.context = kServiceContext, .source = 0, .tag = 0, .size = 100};
  body.ahead = 100;
  body.charged = true;
  EXPECT_TRUE(deliver(FrameKind::Envelope, body));
  EXPECT_FALSE(spoil(0, 0, 100));
  EXPECT_TRUE(piece(0, 0, 100));
  EXPECT_TRUE(spoil(1, 0, 50)) << "its context is not known";
  body.number = 1;
  EXPECT_FALSE(deliver(FrameKind::Envelope, body));
}

TEST_F(Refusal, MoreThanTheWindow) {
  EXPECT_FALSE(envelope(0, 961, 961, 0));
  EXPECT_FALSE(envelope(0, ~0ULL, ~0ULL, 0));
  EXPECT_TRUE(envelope(0, 960, 960, 0));
  EXPECT_FALSE(envelope(1, 0, 0));
  EXPECT_FALSE(piece(1, 0, 1));
  EXPECT_TRUE(envelope(1, 5, 0, 0, false));
  engine.recv(op);
  EXPECT_TRUE(piece(0, 0, 64));
  EXPECT_TRUE(envelope(2, 64, 64, 64)) << "what is free may be used again";
}

TEST_F(Refusal, EarlyPiecesBeyondTheWindow) {
  EXPECT_FALSE(piece(0, 1024, 1));
  EXPECT_FALSE(piece(0, 0, 961));
  EXPECT_TRUE(piece(3, 0, 960 - 64));
  EXPECT_FALSE(piece(4, 0, 1));
}

TEST_F(Refusal, CreditNobodyCanHave) {
  EXPECT_FALSE(deliver(FrameKind::Credit, CreditBody{0})) << "nothing was sent to this peer";
  SendOp first;
  send(first, false);
  EXPECT_FALSE(deliver(FrameKind::Credit, CreditBody{65}));
  EXPECT_FALSE(deliver(FrameKind::Credit, CreditBody{~0ULL}));
  EXPECT_TRUE(deliver(FrameKind::Credit, CreditBody{64}));
  EXPECT_TRUE(deliver(FrameKind::Credit, CreditBody{1})) << "overtaken by the total before";
  EXPECT_FALSE(deliver(FrameKind::Credit, CreditBody{65}));
}

TEST_F(Refusal, GrantsNobodyWaitsFor) {
  EXPECT_FALSE(grant(0)) << "nothing was sent to this peer";
  SendOp standard;
  send(standard, false);
  EXPECT_FALSE(grant(0));
  SendOp synchronous;
  send(synchronous, true);
  SendOp unannounced;
  unannounced.peer = 1;
  unannounced.synchronous = true;
  engine.send(unannounced);
  EXPECT_FALSE(grant(2)) << "its envelope has not gone out";
  EXPECT_FALSE(synchronous.done());
  EXPECT_TRUE(grant(1));
  EXPECT_TRUE(synchronous.done());
  EXPECT_FALSE(grant(1));
}

}  // namespace
}  // namespace isthmus::core
