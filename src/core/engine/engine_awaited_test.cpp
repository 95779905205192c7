// Tests an engine's list of the messages that its process waits for.
#include <gtest/gtest.h>

#include <array>

#include "core/engine/engine.hpp"

namespace isthmus::core {
namespace {

TEST(EngineAwaited, ReceivesPostedAndSendsThatWait) {
  Engine engine(0);
  EXPECT_TRUE(engine.awaited(9).empty());

  std::array<RecvOp, 2> receives;
  receives[0].context = 4;
  receives[0].source = 3;
  receives[0].tag = 7;
  receives[1].context = 5;
  for (RecvOp& op : receives) engine.recv(op);
  SendOp eager, synchronous;
  eager.peer = synchronous.peer = 2;
  synchronous.synchronous = true;
  synchronous.envelope = {.context = 6, .tag = 8};
  engine.send(eager);
  engine.send(synchronous);
  OutFrame frame;
  while (engine.next_frame(frame)) {
  }

  int from_three = 0, from_any = 0, sent = 0;
  for (const Awaited& one : engine.awaited(9)) {
    if (one.sent) {
      ++sent;
      EXPECT_EQ(one.peer, 2U);
      EXPECT_EQ(one.context, 6U);
      EXPECT_EQ(one.tag, 8);
    } else if (one.source == kAnySource) {
      ++from_any;
      EXPECT_EQ(one.context, 5U);
    } else {
      ++from_three;
      EXPECT_EQ(one.source, 3);
      EXPECT_EQ(one.tag, 7);
    }
  }
  EXPECT_EQ(from_three, 1);
  EXPECT_EQ(from_any, 1);
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(engine.awaited(2).size(), 2U);

  for (RecvOp& op : receives) EXPECT_TRUE(engine.cancel(op));
  EXPECT_EQ(engine.awaited(9).size(), 1U);
}

// As of a service's answer that is lent.
TEST(EngineAwaited, NothingOfServices) {
  Engine engine(0);
  SendOp op;
  op.peer = 2;
  op.synchronous = true;
  op.envelope.context = kServiceContext | 6;
  engine.send(op);
  OutFrame frame;
  while (engine.next_frame(frame)) {
  }
  EXPECT_FALSE(op.done());
  EXPECT_TRUE(engine.awaited(9).empty());
}

}  // namespace
}  // namespace isthmus::core
