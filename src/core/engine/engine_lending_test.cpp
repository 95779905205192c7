// Lent messages that are read in pieces: other traffic meanwhile, and how they end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/conduit/conduit.hpp"
#include "core/engine/engine.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {
namespace {

constexpr Limits kLimits{.window = 4096, .piece = 256, .read_at_once = 1000};

class ReadInPieces : public testing::Test {
 protected:
  ReadInPieces() {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 % 251);
    receiver.read_from(1, [this](std::uint64_t address, std::span<std::byte> to) {
      if (reads++ == fails_at) return false;
      std::memcpy(to.data(), reinterpret_cast<const std::byte*>(address), to.size());
      return true;
    });
    sender.lend_to(0, data.size());
    sent.peer = 0;
    sent.envelope.tag = 1;
    sent.data = data;
    op.tag = 1;
    op.buffer = memory.data();
    op.capacity = memory.size();
  }

  // Moves all frames of one to the other, and notes their kinds.
  void move(Engine& from, Engine& to) {
    OutFrame out;
    while (from.next_frame(out)) {
      conduit.submit(out);
      std::vector<std::byte> body(out.head.begin(), out.head.begin() + out.head_size);
      body.insert(body.end(), out.payload.begin(), out.payload.end());
      ASSERT_TRUE(to.deliver({out.kind, out.source, out.destination, body}));
    }
  }
  void begin() {
    receiver.recv(op);
    sender.send(sent);
    move(sender, receiver);
  }
  bool read_one() {
    const auto piece = receiver.next_reading();
    if (piece) receiver.end_reading(*piece, piece->read());
    return piece.has_value();
  }
  bool has_come() const { return std::equal(memory.begin(), memory.end(), data.begin()); }

  std::vector<std::byte> data = std::vector<std::byte>(3500);
  std::vector<std::byte> memory = std::vector<std::byte>(3500);
  int reads = 0, fails_at = -1;
  RecvOp op;
  SendOp sent;
  Conduit conduit{{.self = 1, .peer = 0, .session = 1, .software = "test"}, {}};
  Engine receiver{0, kLimits}, sender{1, kLimits};
};

TEST_F(ReadInPieces, ComesWholeAndEndsItsSend) {
  begin();
  EXPECT_EQ(reads, 0);  // not under the engine's lock
  EXPECT_TRUE(receiver.has_readings());
  while (read_one()) EXPECT_EQ(op.done(), reads == 4);
  EXPECT_EQ(reads, 4);
  EXPECT_FALSE(receiver.has_readings());
  EXPECT_TRUE(has_come());
  EXPECT_FALSE(sent.done());
  move(receiver, sender);
  EXPECT_TRUE(sent.done());
  EXPECT_EQ(receiver.outstanding() + sender.outstanding(), 0U);
}

TEST_F(ReadInPieces, OthersComeMeanwhile) {
  begin();
  const auto piece = receiver.next_reading();
  ASSERT_TRUE(piece);
  std::byte there{7}, here{};
  SendOp ping;
  ping.data = {&there, 1};
  ping.envelope.tag = 2;
  ping.peer = 0;
  RecvOp got;
  got.tag = 2;
  got.buffer = &here;
  got.capacity = 1;
  receiver.recv(got);
  sender.send(ping);
  move(sender, receiver);
  EXPECT_TRUE(got.done());
  EXPECT_EQ(here, there);
  EXPECT_FALSE(op.done());
  EXPECT_FALSE(receiver.cancel(op));
  receiver.end_reading(*piece, piece->read());
  while (read_one()) {
  }
  EXPECT_TRUE(op.done());
  EXPECT_TRUE(has_come());
}

TEST_F(ReadInPieces, MessagesTakeTurns) {
  begin();
  std::vector<std::byte> second(3500);
  RecvOp other;
  other.tag = 1;
  other.buffer = second.data();
  other.capacity = second.size();
  SendOp again;
  again.peer = 0;
  again.envelope.tag = 1;
  again.data = data;
  receiver.recv(other);
  sender.send(again);
  move(sender, receiver);
  std::vector<std::uint64_t> numbers;
  while (const auto piece = receiver.next_reading()) {
    numbers.push_back(piece->number);
    receiver.end_reading(*piece, piece->read());
  }
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_TRUE(op.done() && other.done());
}

TEST_F(ReadInPieces, IsAskedForWhereAPieceCannotBeRead) {
  fails_at = 2;
  begin();
  while (read_one()) {
  }
  EXPECT_EQ(reads, 3);
  EXPECT_FALSE(op.done());
  move(receiver, sender);
  move(sender, receiver);
  EXPECT_TRUE(op.done() && sent.done());
  EXPECT_TRUE(has_come());
  EXPECT_EQ(conduit.counts().bytes, data.size());  // once, though lent and sent
}

TEST_F(ReadInPieces, OnlyWhatHasRoomIsRead) {
  op.capacity = 1500;
  begin();
  while (read_one()) {
  }
  EXPECT_EQ(reads, 2);
  EXPECT_TRUE(op.done());
  EXPECT_EQ(op.error, OpError::Truncated);
  EXPECT_EQ(memory[1500], std::byte{0});
}

TEST_F(ReadInPieces, PiecesThatNobodyAskedForBreakTheProtocol) {
  begin();
  const auto piece = receiver.next_reading();
  ASSERT_TRUE(piece);
  BodyHead head;
  const std::size_t size = encode(PieceBody{.number = 0, .offset = 0}, head);
  std::vector<std::byte> body(head.begin(), head.begin() + size);
  body.resize(size + 10);
  EXPECT_FALSE(receiver.deliver({FrameKind::Piece, 1, 0, body}));
}

}  // namespace
}  // namespace isthmus::core
