#include "core/router/held_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using testing::ElementsAre;
using testing::Pair;

HeldFrame frame_of(NodeId from, NodeId destination, std::size_t size = 1) {
  const std::vector<std::byte> body(size);
  return {from, {.source = from, .destination = destination, .body = body}, 1};
}

std::vector<NodeId> destinations(HeldFrames& held) {
  std::vector<NodeId> all;
  while (!held.empty()) all.push_back(held.next().frame.destination);
  return all;
}

TEST(HeldFrames, QueuesTakeTurnsAndEachStaysInOrder) {
  HeldFrames held;
  for (const NodeId to : {10U, 11U, 12U}) held.add(frame_of(1, to));
  for (const NodeId to : {20U, 21U}) held.add(frame_of(2, to, 3));
  EXPECT_THAT(held.size(), Pair(5, 9));
  EXPECT_THAT(destinations(held), ElementsAre(10, 20, 11, 21, 12));
  EXPECT_THAT(held.size(), Pair(0, 0));
}

TEST(HeldFrames, ARefusedFrameHoldsBackItsOwnQueueAlone) {
  HeldFrames held;
  for (const NodeId to : {10U, 11U, 12U}) held.add(frame_of(1, to));
  for (const NodeId to : {20U, 21U}) held.add(frame_of(2, to));
  held.offer([](const HeldFrame& each) { return each.frame.destination != 11; });
  EXPECT_THAT(destinations(held), ElementsAre(11, 12));
}

TEST(HeldFrames, DisownedFramesKeepTheirOrderAndJoinThoseOfNobody) {
  HeldFrames held;
  held.add(frame_of(1, 10));
  held.add(frame_of(kNobody, 30));
  held.add(frame_of(2, 20));
  held.add(frame_of(1, 11));
  held.disown(1);
  held.disown(7);
  std::vector<std::pair<NodeId, NodeId>> left;
  for (const HeldFrame& each : held.take_all()) {
    left.emplace_back(each.from, each.frame.destination);
  }
  EXPECT_THAT(left,
              ElementsAre(Pair(2, 20), Pair(kNobody, 30), Pair(kNobody, 10), Pair(kNobody, 11)));
  EXPECT_TRUE(held.empty());
}

}  // namespace
}  // namespace isthmus::core
