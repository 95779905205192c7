#include "lab/drop_tail_queue.hpp"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

Packet packet_of(std::uint64_t bytes) {
  Packet packet;
  packet.wire_bytes = bytes;
  return packet;
}

TEST(DropTailQueue, FirstInFirstOutWithTimesOfArrival) {
  DropTailQueue queue;
  queue.push(packet_of(10), 1);
  queue.push(packet_of(20), 2);
  EXPECT_EQ(queue.bytes(), 30U);
  auto first = queue.pop();
  EXPECT_EQ(first.packet.wire_bytes, 10U);
  EXPECT_EQ(first.arrival, 1);
  EXPECT_EQ(queue.pop().arrival, 2);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(DropTailQueue, RoomCountsWhatIsHeldAndWhatIsInService) {
  DropTailQueue queue;
  queue.set_limit(100);
  EXPECT_EQ(queue.room(0), 100U);
  queue.push(packet_of(60), 0);
  EXPECT_EQ(queue.room(0), 40U);
  EXPECT_EQ(queue.room(30), 10U);
  EXPECT_EQ(queue.room(50), 0U);
}

TEST(DropTailQueue, ALowerLimitDropsNothingThatIsHeld) {
  DropTailQueue queue;
  queue.push(packet_of(60), 0);
  queue.set_limit(10);
  EXPECT_EQ(queue.room(0), 0U);
  EXPECT_EQ(queue.size(), 1U);
}

TEST(DropTailQueue, NoLimit) {
  DropTailQueue queue;
  queue.push(packet_of(1ULL << 40), 0);
  EXPECT_GT(queue.room(0), 1ULL << 40);
}

}  // namespace
}  // namespace isthmus::lab
