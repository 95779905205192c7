#include "mpi/native/pinned_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace isthmus::face {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A driver that knows what is pinned.
class Driver {
 public:
  PinnedPool::Pin pin() {
    return [this](std::byte* memory, std::size_t bytes) -> std::unique_ptr<Pinned> {
      ++asked;
      if (refuses) return nullptr;
      std::memset(memory, 1, bytes);
      return std::make_unique<OnePin>(*this, memory);
    };
  }
  bool has(const std::byte* memory) const { return pinned_.contains(memory); }

  bool refuses = false;
  int asked = 0;

 private:
  struct OnePin final : Pinned {
    OnePin(Driver& driver_, std::byte* memory_) : driver(driver_), memory(memory_) {
      driver.pinned_.insert(memory);
    }
    ~OnePin() override { driver.pinned_.erase(memory); }
    OnePin(const OnePin&) = delete;
    OnePin& operator=(const OnePin&) = delete;
    Driver& driver;
    std::byte* const memory;
  };
  std::set<const std::byte*> pinned_;
};

TEST(PinnedPool, MemoryIsUsedAgain) {
  Driver driver;
  PinnedPool pool(8 * kMiB);
  const std::byte* const first = pool.take(kMiB, driver.pin()).get();
  EXPECT_EQ(pool.take(kMiB - 100, driver.pin()).get(), first);
  EXPECT_EQ(driver.asked, 1);
  const auto one = pool.take(kMiB, driver.pin());
  const auto other = pool.take(kMiB, driver.pin());
  EXPECT_NE(one.get(), other.get());
  EXPECT_EQ(driver.asked, 2);
  EXPECT_TRUE(driver.has(other.get()));
}

TEST(PinnedPool, SmallMemoryIsPlain) {
  Driver driver;
  PinnedPool pool(8 * kMiB);
  EXPECT_NE(pool.take(1000, driver.pin()), nullptr);
  EXPECT_EQ(driver.asked, 0);
}

TEST(PinnedPool, BeyondTheBoundItIsPlain) {
  Driver driver;
  PinnedPool pool(4 * kMiB);
  const auto all = pool.take(4 * kMiB, driver.pin());
  const auto more = pool.take(kMiB, driver.pin());
  ASSERT_NE(more, nullptr);
  EXPECT_FALSE(driver.has(more.get()));
  EXPECT_FALSE(driver.has(pool.take(5 * kMiB, driver.pin()).get()));
  EXPECT_EQ(pool.pinned(), 4 * kMiB);
}

TEST(PinnedPool, UnusedMemoryMakesRoom) {
  Driver driver;
  PinnedPool pool(4 * kMiB);
  auto used = pool.take(kMiB, driver.pin());
  const std::byte* const idle = pool.take(2 * kMiB, driver.pin()).get();
  EXPECT_TRUE(driver.has(idle));
  const auto large = pool.take(3 * kMiB, driver.pin());
  EXPECT_TRUE(driver.has(large.get()));
  EXPECT_TRUE(driver.has(used.get()));
  EXPECT_EQ(pool.pinned(), 4 * kMiB);
}

TEST(PinnedPool, UnusedMemoryStaysIfItsRoomIsNotEnough) {
  Driver driver;
  PinnedPool pool(4 * kMiB);
  const auto used = pool.take(2 * kMiB, driver.pin());
  const std::byte* const idle = pool.take(kMiB, driver.pin()).get();
  EXPECT_FALSE(driver.has(pool.take(3 * kMiB, driver.pin()).get()));
  EXPECT_TRUE(driver.has(idle));
}

// As a driver that waits for a thread which gives back memory.
TEST(PinnedPool, MemoryIsGivenBackWhileTheDriverPins) {
  Driver driver;
  PinnedPool pool(4 * kMiB);
  auto first = pool.take(kMiB, driver.pin());
  const auto second = pool.take(kMiB, [&](std::byte* memory, std::size_t bytes) {
    first.reset();
    return driver.pin()(memory, bytes);
  });
  EXPECT_TRUE(driver.has(second.get()));
  EXPECT_EQ(pool.pinned(), 2 * kMiB);
}

TEST(PinnedPool, ADriverThatRefusesIsNotAskedAgain) {
  Driver driver;
  PinnedPool pool(4 * kMiB);
  driver.refuses = true;
  EXPECT_NE(pool.take(kMiB, driver.pin()), nullptr);
  EXPECT_NE(pool.take(kMiB, driver.pin()), nullptr);
  EXPECT_EQ(driver.asked, 1);
  EXPECT_EQ(pool.pinned(), 0U);
}

}  // namespace
}  // namespace isthmus::face
