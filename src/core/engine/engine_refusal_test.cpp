// Every breach of the protocol that docs/protocol.md lists is refused, and its lawful neighbour is
// not.
#include <gtest/gtest.h>

#include <vector>

#include "core/engine/engine.hpp"
#include "core/wire/batch.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {
namespace {

class Refusal : public testing::Test {
 protected:
  Refusal() {
    op.buffer = memory.data();
    op.capacity = memory.size();
  }

  template <class Body>
  bool deliver(FrameKind kind, const Body& body, std::size_t payload = 0, NodeId source = 1) {
    BodyHead head;
    const std::size_t size = encode(body, head);
    std::vector<std::byte> bytes(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
    bytes.resize(size + payload);
    return engine.deliver({kind, source, 0, bytes});
  }
  bool envelope(std::uint64_t number, std::uint64_t size, std::uint64_t ahead,
                std::size_t payload = 0, bool charged = true) {
    EnvelopeBody body;
    body.number = number;
    body.envelope.size = size;
    body.ahead = ahead;
    body.charged = charged;
    body.waits = ahead < size || !charged;
    return deliver(FrameKind::Envelope, body, payload);
  }
  bool piece(std::uint64_t number, std::uint64_t offset, std::size_t payload) {
    return deliver(FrameKind::Piece, PieceBody{number, offset}, payload);
  }
  bool spoil(std::uint64_t number, std::uint64_t offset, std::uint64_t bytes,
             std::size_t words = 1) {
    return deliver(FrameKind::Spoil, SpoilBody{{number, offset}, bytes}, words);
  }
  bool grant(std::uint64_t number, std::uint64_t credit = 0) {
    return deliver(FrameKind::Grant, GrantBody{number, credit});
  }
  bool lent(std::uint64_t number, std::uint64_t size) {
    EnvelopeBody body;
    body.number = number;
    body.envelope.size = size;
    body.waits = body.charged = true;
    body.lent = 1;
    return deliver(FrameKind::Envelope, body);
  }
  bool taken(std::uint64_t number) { return deliver(FrameKind::Taken, GrantBody{number, 0}); }
  void send(SendOp& send, bool synchronous) {
    send.peer = 1;
    send.synchronous = synchronous;
    engine.send(send);
    OutFrame out;
    ASSERT_TRUE(engine.next_frame(out));
  }

  std::vector<std::byte> memory = std::vector<std::byte>(5000);
  RecvOp op;
  Engine engine{0, {.window = 1024, .piece = 256}};
};

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

// The places for what may follow a piece, of which nothing has come.
TEST_F(Refusal, WhatHasComeLeavesNoPlaceBehindAPiece) {
  const auto behind = [this](std::uint64_t offset) {
    BodyHead head;
    InFrame frame{.kind = FrameKind::Piece, .source = 1, .destination = 0, .body = {}};
    frame.body = std::span(head).first(encode(PieceBody{0, offset}, head));
    frame.placed = 100;
    const Landing landing = engine.place(frame);
    EXPECT_EQ(landing.payload.data(), memory.data() + offset);
    EXPECT_EQ(landing.payload.size(), 100U);
    const auto begin = static_cast<std::size_t>(landing.behind.data() - memory.data());
    return landing.behind.empty() ? 0 : begin == offset + 100 ? landing.behind.size() : ~0U;
  };
  EXPECT_TRUE(envelope(0, 3000, 600));
  op.capacity = 2000;
  engine.recv(op);
  EXPECT_EQ(behind(0), 500U) << "up to `ahead`";
  EXPECT_EQ(behind(500), 0U);
  EXPECT_EQ(behind(600), 0U) << "there is not room for all";
  EXPECT_TRUE(piece(0, 400, 1));
  EXPECT_EQ(behind(0), 0U) << "something has come";
  EXPECT_EQ(behind(401), 99U);
  EXPECT_TRUE(spoil(0, 590, 10));
  EXPECT_EQ(behind(401), 0U) << "something is spoilt";
}

TEST_F(Refusal, UpToTheEndOfTheMessageThereIsPlaceBehindAPiece) {
  EXPECT_TRUE(envelope(0, 3000, 600));
  engine.recv(op);
  BodyHead head;
  InFrame frame{.kind = FrameKind::Piece, .source = 1, .destination = 0, .body = {}};
  frame.body = std::span(head).first(encode(PieceBody{0, 600}, head));
  frame.placed = 100;
  EXPECT_EQ(engine.place(frame).behind.size(), 2300U);
  EXPECT_EQ(engine.place(frame).behind.data(), memory.data() + 700);
  EXPECT_TRUE(spoil(0, 2999, 1));
  EXPECT_TRUE(engine.place(frame).behind.empty());
  EXPECT_EQ(engine.place(frame).payload.size(), 100U);
}

// A receive is posted while a piece lands where the message waits.
TEST_F(Refusal, APieceThatLandsBeforeItsReceiveReachesIt) {
  BodyHead head;
  InFrame frame{.kind = FrameKind::Piece, .source = 1, .destination = 0, .body = {}};
  const auto place = [&](std::uint64_t offset, std::size_t size) {
    frame.body = std::span(head).first(encode(PieceBody{0, offset}, head));
    frame.placed = size;
    return engine.place(frame).payload;
  };
  EXPECT_TRUE(envelope(0, 600, 600));
  EXPECT_TRUE(place(0, 100).empty()) << "nothing has come";
  EXPECT_TRUE(piece(0, 0, 100));
  std::span<std::byte> there = place(100, 100);
  ASSERT_EQ(there.size(), 100U);
  EXPECT_TRUE(engine.place(frame).behind.empty()) << "later pieces may go to the receive";
  std::ranges::fill(there, std::byte{5});
  ASSERT_TRUE(engine.deliver(frame));

  const std::span<std::byte> later = place(400, 100);
  there = place(200, 100);
  std::ranges::fill(there.first(50), std::byte{6});
  std::ranges::fill(memory, std::byte{0});
  engine.recv(op);
  EXPECT_EQ(memory[150], std::byte{5});
  EXPECT_EQ(memory[220], std::byte{0}) << "it may still be on its way";
  const std::span<std::byte> again = place(200, 100);
  EXPECT_EQ(again.data(), there.data());
  EXPECT_TRUE(engine.place(frame).behind.empty()) << "another lands there";
  std::ranges::fill(again.last(50), std::byte{7});
  ASSERT_TRUE(engine.deliver(frame));
  EXPECT_EQ(place(500, 10).data(), memory.data() + 500);
  EXPECT_EQ(place(400, 100).data(), later.data());
  EXPECT_EQ(memory[249], std::byte{6});
  EXPECT_EQ(memory[250], std::byte{7});
  EXPECT_TRUE(piece(0, 300, 299)) << "with those that have landed in part";
  EXPECT_FALSE(op.done());
  EXPECT_EQ(place(599, 1).size(), 1U);
  EXPECT_TRUE(engine.deliver(frame));
  EXPECT_TRUE(op.done());
  EXPECT_TRUE(place(599, 1).empty());
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
