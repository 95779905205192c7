#include "core/conduit/send_queue.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isthmus::core {
namespace {

std::shared_ptr<Packet> queued(std::size_t body) { return packet_for(body); }

TEST(SendQueue, ExpressFramesOvertakeBulkForAWhile) {
  SendQueue queue;
  queue.set_window(std::size_t{16} << 20);
  queue.push(queued(kMaxBody));
  for (int i = 0; i < 20; ++i) queue.push(queued(8));
  std::string order;
  while (queue.ready(true)) order += queue.pop(true)->express() ? 'e' : 'B';
  EXPECT_EQ(order, "eeeeeeeeeeeeeeeeBeeee");
}

TEST(SendQueue, WithoutBulkOnlyExpressFramesGo) {
  SendQueue queue;
  queue.set_window(std::size_t{16} << 20);
  queue.push(queued(kMaxBody));
  EXPECT_FALSE(queue.ready(false));
  queue.push(queued(8));
  ASSERT_TRUE(queue.ready(false));
  EXPECT_TRUE(queue.pop(false)->express());
}

TEST(SendQueue, ByeGoesWhenAllElseHasGone) {
  SendQueue queue;
  queue.set_window(std::size_t{16} << 20);
  auto bye = queued(0);
  bye->kind = FrameKind::Bye;
  queue.push_last(bye);
  for (int i = 0; i < 20; ++i) queue.push(queued(8));
  for (int i = 0; i < 20; ++i) EXPECT_NE(queue.pop(true), bye);
  EXPECT_EQ(queue.pop(true), bye);
}

TEST(SendQueue, BulkLeavesAPartOfTheWindowToExpressFrames) {
  SendQueue queue;
  constexpr std::size_t kWindow = std::size_t{1} << 20, kFrame = kHeaderSize + kMaxBody;
  queue.set_window(kWindow);
  std::size_t sent = 0;
  for (queue.push(queued(kMaxBody)); queue.ready(true); queue.push(queued(kMaxBody))) {
    sent += queue.pop(true)->size;
  }
  EXPECT_LE(sent, kWindow - 64 * 1024);
  EXPECT_GT(sent + kFrame, kWindow - 64 * 1024);
  queue.push(queued(8));
  EXPECT_TRUE(queue.ready(true));
  queue.pop(true);
  EXPECT_FALSE(queue.consumed(sent + kFrame));
  EXPECT_TRUE(queue.consumed(sent));
  EXPECT_TRUE(queue.ready(true));
}

}  // namespace
}  // namespace isthmus::core
