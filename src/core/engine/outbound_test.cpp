#include "core/engine/outbound.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "core/world/limits.hpp"

namespace isthmus::core {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

// The parts of the next frame.
struct Outgoing {
  BodyHead head{};
  std::size_t head_size = 0;
  std::span<const std::byte> payload{};

  void envelope(Outbound& outbound) { outbound.next_envelope(true, head, head_size, payload); }
  void piece(Outbound& outbound) {
    const auto any = [](bool, LinkChoice) { return true; };
    outbound.next_piece(*outbound.ready(any), head, head_size, payload);
  }
};

// The payloads of the frames that a message of `size` bytes is cut into.
std::vector<std::size_t> cut(std::size_t size, std::size_t window, std::size_t fine_head = 0) {
  Outbound outbound({.window = window, .piece = kPiece, .fine_head = fine_head});
  const std::vector<std::byte> data(size);
  SendOp op;
  op.data = data;
  outbound.push(op);
  Outgoing parts;
  parts.envelope(outbound);
  EXPECT_EQ(parts.payload.empty(), size > kPiece);
  std::vector<std::size_t> sizes;
  if (!parts.payload.empty()) sizes.push_back(parts.payload.size());
  std::size_t sum = parts.payload.size();
  while (sum < size) {
    if (!outbound.has_piece()) {
      EXPECT_EQ(outbound.grant(0), &op);
    }
    parts.piece(outbound);
    EXPECT_EQ(parts.payload.data(), data.data() + sum);
    sum += parts.payload.size();
    sizes.push_back(parts.payload.size());
  }
  EXPECT_TRUE(Outbound::finished(op));
  return sizes;
}

TEST(Outbound, AnEnvelopeHasAsMuchAsAPieceHas) {
  EXPECT_EQ(cut(kPiece, 64 * kPiece, kCoarse), std::vector<std::size_t>{kPiece});
}

TEST(Outbound, CoarseMessagesGoInLargeFramesThroughout) {
  EXPECT_EQ(cut(3 * kPiece + 1, 64 * kPiece, kCoarse),
            (std::vector<std::size_t>{kPiece, kPiece, kPiece, 1}));
}

TEST(Outbound, LargeMessagesBeginAndEndInSmallFrames) {
  constexpr std::size_t kSmall = (kPiece + 5) / 6;
  const auto sizes = cut(10 * kPiece, 64 * kPiece);
  ASSERT_EQ(sizes.size(), 6U + 8U + 6U);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    EXPECT_EQ(sizes[i], i < 6 || i >= 14 ? kSmall : kPiece) << i;
  }
  EXPECT_EQ(cut(kSmall, 64 * kPiece), std::vector<std::size_t>{kSmall});
  EXPECT_EQ(cut(2 * kSmall + 1, 64 * kPiece), (std::vector<std::size_t>{kSmall, kSmall, 1}));
}

TEST(Outbound, MessagesOverLongPathsBeginInManySmallFrames) {
  constexpr std::size_t kSmall = (kPiece + 5) / 6;
  const auto sizes = cut(20 * kPiece, 64 * kPiece, 8 * kPiece);
  const auto large = std::find(sizes.begin(), sizes.end(), kPiece) - sizes.begin();
  EXPECT_EQ(static_cast<std::size_t>(large), 8 * kPiece / kSmall + 1);
  for (long i = 0; i < large; ++i) EXPECT_EQ(sizes[static_cast<std::size_t>(i)], kSmall) << i;
}

TEST(Outbound, PartsOfSomethingLongerAreLargeFramesWithin) {
  constexpr std::size_t kSmall = (kPiece + 5) / 6;
  const auto first_of = [](std::size_t before, std::size_t behind) {
    Outbound outbound({.window = 64 * kPiece, .piece = kPiece, .fine_head = 2 * kPiece});
    const std::vector<std::byte> data(kPiece);
    SendOp op;
    op.data = data;
    op.before = before;
    op.behind = behind;
    outbound.push(op);
    Outgoing parts;
    parts.envelope(outbound);
    return parts.payload.size();
  };
  EXPECT_EQ(first_of(0, 9 * kPiece), kSmall);
  EXPECT_EQ(first_of(kPiece, 8 * kPiece), kSmall);
  EXPECT_EQ(first_of(2 * kPiece, 7 * kPiece), kPiece);
  EXPECT_EQ(first_of(8 * kPiece, kPiece), kPiece);
  EXPECT_EQ(first_of(9 * kPiece, 0), kSmall);
}

TEST(Outbound, OnlyBytesThatAreReadyGo) {
  Outbound outbound({.window = 64 * kPiece, .piece = kPiece, .fine_head = kCoarse});
  outbound.lend(kPiece);  // not what is not there
  const std::vector<std::byte> data(3 * kPiece);
  Outgoing parts;
  SendOp op;
  op.data = data;
  op.ready = 100;
  outbound.push(op);
  parts.envelope(outbound);
  EXPECT_FALSE(op.lent);
  EXPECT_TRUE(parts.payload.empty());
  ASSERT_TRUE(outbound.has_piece());
  parts.piece(outbound);
  EXPECT_EQ(parts.payload.size(), 100U);
  EXPECT_FALSE(outbound.has_piece());
  op.ready = kPiece;
  outbound.extend(op);
  ASSERT_TRUE(outbound.has_piece());
  parts.piece(outbound);
  EXPECT_EQ(parts.payload.size(), kPiece - 100);
  EXPECT_FALSE(outbound.has_piece());
  EXPECT_FALSE(Outbound::finished(op));
  op.ready = data.size();
  outbound.extend(op);
  parts.piece(outbound);
  parts.piece(outbound);
  EXPECT_TRUE(Outbound::finished(op));
}

TEST(Outbound, ASendThatWaitsForItsBytesFailsWithItsPeer) {
  Outbound outbound({.window = 64 * kPiece, .piece = kPiece});
  const std::vector<std::byte> data(3 * kPiece);
  Outgoing parts;
  SendOp op;
  op.data = data;
  op.ready = 0;
  outbound.push(op);
  parts.envelope(outbound);
  EXPECT_TRUE(parts.payload.empty());
  EXPECT_EQ(outbound.fail(), std::vector<SendOp*>{&op});
}

TEST(Outbound, NoFrameCrossesWhatMayGoUnasked) {
  const std::size_t window = 3 * kPiece;
  const std::size_t ahead = window - kMessageCharge - window / 8;
  std::size_t sum = 0;
  bool met = false;
  for (const std::size_t size : cut(10 * kPiece, window)) {
    sum += size;
    met = met || sum == ahead;
  }
  EXPECT_TRUE(met);
}

/// The next envelope's body; `payload` goes with it.
std::optional<EnvelopeBody> next_body(Outbound& outbound, std::span<const std::byte>& payload) {
  BodyHead head;
  std::size_t head_size = 0;
  outbound.next_envelope(true, head, head_size, payload);
  return decode_envelope(std::span(head).first(head_size));
}

void set_data(SendOp& op, std::span<const std::byte> data) {
  op.data = data;
  op.envelope.size = data.size();
}

class Lending : public testing::Test {
 protected:
  Lending() { outbound.lend(data.size()); }
  Outbound outbound{{.window = 1000, .piece = 100}};
  const std::vector<std::byte> data = std::vector<std::byte>(500);
  std::span<const std::byte> payload;
};

TEST_F(Lending, LargeMessagesSayWhereTheyAre) {
  SendOp small, large;
  set_data(small, std::span(data).first(499));
  set_data(large, data);
  outbound.push(small);
  outbound.push(large);
  const auto sent = next_body(outbound, payload);
  ASSERT_TRUE(sent);
  EXPECT_FALSE(sent->lent);
  const auto lent = next_body(outbound, payload);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->lent, reinterpret_cast<std::uint64_t>(data.data()));
  EXPECT_TRUE(payload.empty());
  EXPECT_EQ(outbound.taken(0), nullptr);
  EXPECT_EQ(outbound.taken(1), &large);
  EXPECT_TRUE(Outbound::finished(large));
}

TEST_F(Lending, BeyondABoundMessagesGoByFrames) {
  std::deque<SendOp> ops(kMostLent + 3);
  for (SendOp& op : ops) {
    set_data(op, data);
    outbound.push(op);
  }
  for (std::size_t i = 0; i < kMostLent; ++i) {
    const auto body = next_body(outbound, payload);
    ASSERT_TRUE(body && body->lent);
  }
  const auto next_is_lent = [this] {
    const auto body = next_body(outbound, payload);
    return body && body->lent;
  };
  EXPECT_FALSE(next_is_lent());
  EXPECT_EQ(outbound.taken(0), &ops.front());
  EXPECT_TRUE(next_is_lent());
  EXPECT_NE(outbound.grant(1), nullptr) << "the peer cannot read it";
  EXPECT_TRUE(next_is_lent());
}

TEST_F(Lending, NotWhatGoesByAChosenLink) {
  SendOp op;
  set_data(op, data);
  op.link = kByGateways;
  outbound.push(op);
  const auto body = next_body(outbound, payload);
  ASSERT_TRUE(body);
  EXPECT_FALSE(body->lent);
  EXPECT_TRUE(outbound.has_piece());
}

}  // namespace
}  // namespace isthmus::core
