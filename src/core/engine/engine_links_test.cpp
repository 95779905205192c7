// Messages of communicators that chose their link.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/engine/engine.hpp"

namespace isthmus::core {
namespace {

TEST(EngineLinks, OneWithoutRoomDoesNotHoldUpAnotherToTheSamePeer) {
  constexpr LinkChoice kFull = kFirstNamedLink, kFree = kFirstNamedLink + 1;
  Engine engine(0, {.window = 1 << 20, .piece = 1024});
  engine.choose_link(10, kFull);
  engine.choose_link(20, kFree);
  const std::vector<std::byte> data(10'000);
  std::array<SendOp, 2> ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].peer = 1;
    ops[i].envelope.context = 10 * (i + 1);
    ops[i].data = data;
    engine.send(ops[i]);
  }
  const Engine::Room room = [](NodeId, bool bulk, LinkChoice link) {
    return !bulk || link != kFull;
  };
  OutFrame out;
  std::size_t by_free = 0;
  while (engine.next_frame(out, room)) {
    if (out.link == kFree) by_free += out.payload.size();
    EXPECT_TRUE(out.link == kFree || out.payload.size() <= kExpressBody);
  }
  EXPECT_EQ(by_free, data.size());
  EXPECT_TRUE(ops[1].done());
  EXPECT_FALSE(ops[0].done());
  while (engine.next_frame(out)) EXPECT_EQ(out.link, kFull);
  EXPECT_TRUE(ops[0].done());
}

TEST(EngineLinks, SmallMessagesOfAChosenOneDoNotShareFrames) {
  Engine engine(0, {.gathered = 1024});
  engine.choose_link(10, kByGateways);
  const std::vector<std::byte> data(8);
  SendOp op;
  op.peer = 1;
  op.envelope.context = 10;
  op.data = data;
  EXPECT_FALSE(engine.send(op));
  OutFrame out;
  ASSERT_TRUE(engine.next_frame(out));
  EXPECT_EQ(out.link, kByGateways);
  engine.choose_link(10, kAnyLink);
  SendOp other;
  other.peer = 1;
  other.envelope.context = 10;
  other.data = data;
  EXPECT_TRUE(engine.send(other));
}

}  // namespace
}  // namespace isthmus::core
