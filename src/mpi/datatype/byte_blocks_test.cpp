#include "mpi/datatype/byte_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace isthmus::face {
namespace {

using testing::ElementsAre;

constexpr std::size_t kLongest = std::size_t{1} << 30;
constexpr std::size_t kLong = std::size_t{1} << 31;

/// More memory than an int can count. Only what is touched exists.
class Vast {
 public:
  explicit Vast(std::size_t size)
      : bytes_(static_cast<std::byte*>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
               size) {}
  ~Vast() { munmap(bytes_.data(), bytes_.size()); }
  Vast(const Vast&) = delete;
  Vast& operator=(const Vast&) = delete;
  coll::Bytes bytes() const { return bytes_; }

 private:
  coll::Bytes bytes_;
};

TEST(ByteBlocks, ShortOnesStayWhereTheyAre) {
  std::byte memory[12]{};
  const std::size_t sizes[] = {3, 0, 9};
  const SentBlocks sent(memory, sizes, 8);  // the last is long
  EXPECT_EQ(sent.memory, memory);
  EXPECT_THAT(sent.blocks.counts, ElementsAre(3, 0, 0));
  EXPECT_THAT(sent.blocks.places, ElementsAre(0, 3, 3));
  const ReceivedBlocks received(memory, sizes, kAnyLength);
  EXPECT_EQ(received.memory, memory);
  EXPECT_THAT(received.blocks.counts, ElementsAre(3, 0, 9));
}

TEST(ByteBlocks, WhatIntsCannotPlaceIsSentTogether) {
  const Vast memory(kLong + 7);
  const std::size_t sizes[] = {3, kLong, 4};
  std::memcpy(memory.bytes().data(), "abc", 3);
  std::memcpy(memory.bytes().data() + 3 + kLong, "wxyz", 4);
  const SentBlocks sent(memory.bytes(), sizes, kLongest);
  EXPECT_THAT(sent.blocks.counts, ElementsAre(3, 0, 4));
  EXPECT_THAT(sent.blocks.places, ElementsAre(0, 3, 3));
  EXPECT_EQ(std::memcmp(sent.memory, "abcwxyz", 7), 0);
}

TEST(ByteBlocks, WhatIntsCannotPlaceIsReceivedTogether) {
  const Vast memory(kLong + 7);
  const std::size_t sizes[] = {3, kLong, 4};
  const ReceivedBlocks received(memory.bytes(), sizes, kLongest);
  EXPECT_THAT(received.blocks.counts, ElementsAre(3, 0, 4));
  EXPECT_THAT(received.blocks.places, ElementsAre(0, 3, 3));
  std::memcpy(received.memory, "abcwxyz", 7);
  received.store();
  EXPECT_EQ(std::memcmp(memory.bytes().data(), "abc", 3), 0);
  EXPECT_EQ(std::memcmp(memory.bytes().data() + 3 + kLong, "wxyz", 4), 0);
}

TEST(ByteBlocks, AMembersOwnBlockMayBeTheLongOne) {
  const Vast memory(kLong);
  const std::size_t size = kLong;
  const SentBlocks sent(memory.bytes(), {&size, 1}, kLongest);
  EXPECT_THAT(sent.blocks.counts, ElementsAre(0));
}

}  // namespace
}  // namespace isthmus::face
