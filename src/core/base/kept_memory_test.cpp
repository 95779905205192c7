#include "core/base/kept_memory.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

constexpr std::size_t kBlock = KeptMemory::kLeast;

TEST(KeptMemory, GivesAgainWhatItWasGiven) {
  KeptMemory memory(4 * kBlock);
  MemoryBlock block = memory.take(2 * kBlock);
  const std::byte* const at = block.bytes.get();
  memory.give(std::move(block));
  EXPECT_EQ(memory.kept(), 2 * kBlock);
  block = memory.take(kBlock);
  EXPECT_EQ(block.bytes.get(), at);
  EXPECT_EQ(block.size, 2 * kBlock);
  EXPECT_EQ(memory.kept(), 0U);
}

TEST(KeptMemory, PrefersTheSmallestThatIsLargeEnough) {
  KeptMemory memory(16 * kBlock);
  MemoryBlock large = memory.take(4 * kBlock), small = memory.take(2 * kBlock);
  const std::byte* const at = small.bytes.get();
  memory.give(std::move(large));
  memory.give(std::move(small));
  EXPECT_EQ(memory.take(2 * kBlock).bytes.get(), at);
  EXPECT_GE(memory.take(3 * kBlock).size, 3 * kBlock);
  EXPECT_EQ(memory.kept(), 0U);
}

TEST(KeptMemory, ALargeBlockIsNotSpentOnLittle) {
  KeptMemory memory(16 * kBlock);
  memory.give(memory.take(8 * kBlock));
  EXPECT_EQ(memory.take(kBlock).size, kBlock);
  EXPECT_EQ(memory.kept(), 8 * kBlock);
}

TEST(KeptMemory, KeepsNoMoreThanItMay) {
  KeptMemory memory(4 * kBlock);
  memory.give(memory.take(kBlock - 1));
  memory.give(memory.take(5 * kBlock));
  EXPECT_EQ(memory.kept(), 0U);
  MemoryBlock first = memory.take(2 * kBlock), second = memory.take(3 * kBlock);
  memory.give(std::move(first));
  memory.give(std::move(second));
  EXPECT_EQ(memory.kept(), 3 * kBlock);  // the older one made room
}

}  // namespace
}  // namespace isthmus::core
