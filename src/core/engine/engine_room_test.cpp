// Each frame fits into the room that the owner has reported.
#include <gtest/gtest.h>

#include <array>
#include <list>
#include <random>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/wire/message_body.hpp"
#include "core/world/limits.hpp"

namespace isthmus::core {
namespace {

constexpr std::size_t kPiece = 8000;

class EngineRoom : public testing::Test {
 protected:
  void send(NodeId to, std::size_t size, bool synchronous = false) {
    SendOp& op = ops_.emplace_back();
    op.peer = to;
    op.data = std::span(data_).first(size);
    op.synchronous = synchronous;
    engine_.send(op);
  }
  // Takes frames until none has room.
  void pull(bool express, bool bulk) {
    const Engine::Room room = [&](NodeId, bool large, LinkChoice) {
      return large ? bulk : express;
    };
    OutFrame out;
    while (engine_.next_frame(out, room)) {
      const bool large = out.head_size + out.payload.size() > kExpressBody;
      EXPECT_TRUE(large ? bulk : express) << out.head_size + out.payload.size() << " bytes";
      ++(large ? bulk_ : express_);
    }
    engine_.payload_copied();
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(5 * kPiece);
  std::list<SendOp> ops_;
  Engine engine_{0, {.window = 1 << 20, .piece = kPiece, .gathered = 4000}};
  std::size_t express_ = 0, bulk_ = 0;
};

TEST_F(EngineRoom, AShortLastPieceIsAnExpressFrame) {
  engine_.set_fine_head(kCoarse);
  send(1, 2 * kPiece + 3);
  pull(true, true);
  EXPECT_EQ(express_, 2U);  // the envelope, and the last piece
  EXPECT_EQ(bulk_, 2U);
  send(1, 2 * kPiece + 3);
  pull(true, false);  // the envelope alone
  express_ = bulk_ = 0;
  pull(false, true);
  EXPECT_EQ(bulk_, 2U);
  EXPECT_EQ(express_, 0U);
  EXPECT_FALSE(ops_.back().done());
  pull(true, false);
  EXPECT_TRUE(ops_.back().done());
}

TEST_F(EngineRoom, MessagesOfAllSizesFit) {
  std::mt19937 random(1);
  constexpr std::size_t kHead = EnvelopeBody::kSize, kPieceHead = PieceBody::kSize;
  const std::array sizes{std::size_t{0},
                         std::size_t{1},
                         kExpressBody - kHead,
                         kExpressBody - kHead + 1,
                         kPiece,
                         kPiece + 1,
                         kPiece + kExpressBody,
                         kPiece + kExpressBody - kPieceHead,
                         3 * kPiece - 1,
                         4 * kPiece + kExpressBody - kPieceHead + 1};
  engine_.lend_to(2, 3 * kPiece);
  for (int round = 0; round < 200; ++round) {
    if (round % 40 == 20) engine_.set_fine_head(2 * kPiece);
    if (round % 40 == 0) engine_.set_fine_head(kCoarse);
    send(1 + random() % 2, sizes[random() % sizes.size()], random() % 8 == 0);
    pull(random() % 2 == 0, random() % 2 == 0);
  }
  pull(true, true);
  EXPECT_FALSE(engine_.has_output());
  EXPECT_GT(express_, 100U);
  EXPECT_GT(bulk_, 50U);
}

}  // namespace
}  // namespace isthmus::core
