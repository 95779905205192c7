#include "net/shm/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <vector>

namespace isthmus::net {
namespace {

class RingTest : public testing::Test {
 protected:
  RingMoved write(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& b : bytes) b = byte_at(next_written_++);
    const iovec part{bytes.data(), bytes.size()};
    const RingMoved moved = writer_.write({&part, 1});
    next_written_ -= size - moved.bytes;
    return moved;
  }
  // In two parts, and sees that the bytes are those that follow.
  RingMoved read(std::size_t size) {
    std::vector<std::byte> bytes(size);
    const std::size_t cut = size / 3;
    const std::array<iovec, 2> parts{iovec{bytes.data(), cut}, {bytes.data() + cut, size - cut}};
    const RingMoved moved = reader_.read(parts);
    for (std::size_t i = 0; i < moved.bytes; ++i) {
      EXPECT_EQ(bytes[i], byte_at(next_read_));
      ++next_read_;
    }
    return moved;
  }
  static std::byte byte_at(std::uint64_t position) {
    return static_cast<std::byte>((position * 0x9E37'79B9) >> 24);
  }

  std::vector<std::byte> bytes_ = std::vector<std::byte>(64);
  RingHead head_{};
  RingWriter writer_{head_, bytes_};
  RingReader reader_{head_, bytes_};
  std::uint64_t next_written_ = 0, next_read_ = 0;
};

TEST_F(RingTest, TakesNoMoreThanThereIsRoomAndGivesNoMoreThanThereIs) {
  EXPECT_FALSE(reader_.filled());
  EXPECT_EQ(read(10).bytes, 0U);
  EXPECT_EQ(write(100).bytes, 64U);
  EXPECT_FALSE(writer_.room());
  EXPECT_EQ(write(1).bytes, 0U);
  EXPECT_EQ(read(10).bytes, 10U);
  EXPECT_TRUE(writer_.room());
  EXPECT_EQ(write(100).bytes, 10U);
  EXPECT_EQ(read(100).bytes, 64U);
  EXPECT_FALSE(reader_.filled());
}

TEST_F(RingTest, AWriterWithRoomEnoughDoesNotLookWhatHasBeenRead) {
  write(16);
  read(16);
  head_.read = 1000;  // nonsense
  EXPECT_EQ(write(48).bytes, 48U);
  EXPECT_TRUE(write(1).broken);
  head_.read = 16;
  EXPECT_EQ(write(17).bytes, 16U);
}

TEST_F(RingTest, BytesComeInOrderHoweverTheyGoRound) {
  std::mt19937 random(1);
  while (next_read_ < 100'000) {
    write(random() % 80);
    read(random() % 80);
  }
  EXPECT_LE(next_written_ - next_read_, 64U);
}

TEST_F(RingTest, OnlyWhoSleepsIsWokenAndOnce) {
  EXPECT_FALSE(write(1).wake);
  reader_.asleep(true);
  EXPECT_TRUE(write(1).wake);
  EXPECT_FALSE(write(1).wake);
  reader_.asleep(true);
  reader_.asleep(false);
  EXPECT_FALSE(write(1).wake);
}

TEST_F(RingTest, ASleepingWriterIsWokenForHalfARing) {
  write(64);
  writer_.asleep(true);
  EXPECT_FALSE(read(31).wake);
  EXPECT_TRUE(read(1).wake);
  EXPECT_FALSE(read(1).wake);
}

TEST_F(RingTest, ACounterThatIsNonsenseIsFoundOut) {
  head_.read = 1;  // more than was written
  EXPECT_TRUE(writer_.room());
  EXPECT_FALSE(write(64).broken);  // there was room before
  head_.read = 65;
  EXPECT_TRUE(write(1).broken);
  EXPECT_TRUE(write(1).broken);
  head_.written = 65;  // more than fits
  EXPECT_TRUE(reader_.filled());
  const RingMoved moved = read(1);
  EXPECT_TRUE(moved.broken);
  EXPECT_EQ(moved.bytes, 0U);
  head_.written = ~std::uint64_t{0};
  EXPECT_TRUE(read(1).broken);
}

TEST_F(RingTest, TwoThreadsLoseNothing) {
  constexpr std::uint64_t kAll = 200'000;
  std::thread writing([this] {
    while (next_written_ < kAll) {
      if (write(std::min<std::uint64_t>(17, kAll - next_written_)).bytes == 0) {
        std::this_thread::yield();
      }
    }
  });
  while (next_read_ < kAll) {
    if (read(23).bytes == 0) std::this_thread::yield();
  }
  writing.join();
  EXPECT_FALSE(reader_.filled());
}

}  // namespace
}  // namespace isthmus::net
