#include "core/wire/frame_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace isthmus::core {
namespace {

TEST(FrameMemory, KeepsWhatLargeFramesHad) {
  FrameMemory memory(2);
  auto first = memory.take(FrameMemory::kBlock);
  const std::byte* const where = first.get();
  EXPECT_EQ(memory.kept(), 0U);
  first.reset();
  EXPECT_EQ(memory.kept(), 1U);
  const auto again = memory.take(memory.least());
  EXPECT_EQ(again.get(), where);
  EXPECT_EQ(memory.kept(), 0U);
}

TEST(FrameMemory, HasRoomForAnyFrameInWhatItKeeps) {
  FrameMemory memory(1);
  memory.take(memory.least()).reset();
  const auto all = memory.take(FrameMemory::kBlock);
  std::memset(all.get(), 1, FrameMemory::kBlock);  // the address sanitizer looks on
  EXPECT_EQ(memory.kept(), 0U);
}

TEST(FrameMemory, KeepsNoMoreThanItMay) {
  FrameMemory memory(2);
  {
    std::vector<FrameMemory::Block> blocks;
    blocks.reserve(5);
    for (int i = 0; i < 5; ++i) blocks.push_back(memory.take(FrameMemory::kBlock));
  }
  EXPECT_EQ(memory.kept(), 2U);
}

TEST(FrameMemory, KeepsNothingOfOtherSizes) {
  FrameMemory memory(2);
  memory.take(memory.least() - 1).reset();
  memory.take(FrameMemory::kBlock + 1).reset();
  memory.take(0).reset();
  EXPECT_EQ(memory.kept(), 0U);
}

TEST(FrameMemory, MayKeepMoreLater) {
  FrameMemory memory(1);
  memory.keep(2);
  {
    const auto first = memory.take(FrameMemory::kBlock), second = memory.take(FrameMemory::kBlock);
  }
  EXPECT_EQ(memory.kept(), 2U);
}

TEST(FrameMemory, OfFineFramesHasBlocksOfTheirSize) {
  FrameMemory memory(2, FrameMemory::kFineBlock);
  const auto block = memory.take(memory.least());
  std::memset(block.get(), 1, FrameMemory::kFineBlock);  // the address sanitizer looks on
  memory.take(FrameMemory::kFineBlock + 1).reset();
  EXPECT_EQ(memory.kept(), 0U);
  EXPECT_NE(&frame_memory(FrameMemory::kFineBlock), &frame_memory(FrameMemory::kBlock));
}

TEST(FrameMemory, ThreadsShareIt) {
  FrameMemory memory(4);
  const auto use = [&memory] {
    for (int i = 0; i < 1000; ++i) {
      const auto block = memory.take(FrameMemory::kBlock);
      block[0] = static_cast<std::byte>(i);
    }
  };
  std::thread other(use);
  use();
  other.join();
  EXPECT_GE(memory.kept(), 1U);
  EXPECT_LE(memory.kept(), 2U);
}

}  // namespace
}  // namespace isthmus::core
