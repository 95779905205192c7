#include "lab/buffer_pool.hpp"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(BufferPool, RecyclesAndCountsTheRoomThatIsTaken) {
  BufferPool pool(1 << 20);
  auto small = pool.get(100);
  std::byte* const where = small.get();
  EXPECT_EQ(pool.in_use(), 2048U);
  auto large = pool.get(kMaxFrame);
  EXPECT_EQ(pool.in_use(), 2048U + kMaxFrame);
  small.reset();
  EXPECT_EQ(pool.in_use(), kMaxFrame);
  EXPECT_EQ(pool.get(2048).get(), where);
}

TEST(BufferPool, RefusesBeyondItsLimitAndLendsAgainAfterwards) {
  BufferPool pool(4096);
  auto first = pool.get(1), second = pool.get(1);
  EXPECT_TRUE(second);
  EXPECT_FALSE(pool.get(1));
  EXPECT_EQ(pool.in_use(), 4096U);
  first.reset();
  EXPECT_TRUE(pool.get(1));
}

TEST(BufferPool, RefusesWhatIsLargerThanAnyFrame) {
  BufferPool pool(1 << 20);
  EXPECT_FALSE(pool.get(kMaxFrame + 1));
}

}  // namespace
}  // namespace isthmus::lab
