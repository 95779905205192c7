#include "mpi/rma/near_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace isthmus::face {
namespace {

class NearMemoryTest : public testing::Test {
 protected:
  NearMemoryTest() {
    near.resize(3);
    near.add(1, bytes, sizeof bytes, 8);
  }
  std::byte bytes[100]{};
  NearMemory near;
};

TEST_F(NearMemoryTest, OnlyWhatWasAddedIsMapped) {
  EXPECT_EQ(near.memory(0), nullptr);
  EXPECT_EQ(near.memory(1), bytes);
}

TEST_F(NearMemoryTest, PlacesAreInTheWindowOrNowhere) {
  EXPECT_EQ(near.at(1, 0, 100, 1), bytes);
  EXPECT_EQ(near.at(1, 0, 101, 1), nullptr);
  EXPECT_EQ(near.at(1, 12, 1, 4), bytes + 96);
  EXPECT_EQ(near.at(1, 12, 1, 8), nullptr);
  EXPECT_EQ(near.at(1, 13, 1, 1), nullptr);
  EXPECT_EQ(near.at(1, -1, 1, 1), nullptr);
  EXPECT_EQ(near.at(1, 0, -1, 1), nullptr);
}

TEST_F(NearMemoryTest, NumbersThatOverflowAreNowhere) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(near.at(1, kMost, 1, 1), nullptr);
  EXPECT_EQ(near.at(1, kMost / 4 + 1, 1, 1), nullptr);  // times 8: 0 modulo 2^64
  EXPECT_EQ(near.at(1, 0, kMost, 16), nullptr);
  EXPECT_EQ(near.at(1, 1, kMost, 1), nullptr);
}

TEST_F(NearMemoryTest, WhatIsReachedByCallsHasPlacesButNoMemory) {
  const auto peer = core::PeerMemory::reach(core::PeerMemory::of_this_process(bytes));
  if (!peer) GTEST_SKIP() << "the system has no process_vm_readv";
  near.add(2, *peer, sizeof bytes, 8);
  EXPECT_EQ(near.peer(1), nullptr);
  EXPECT_EQ(near.peer(2), &*peer);
  EXPECT_EQ(near.memory(2), nullptr);
  EXPECT_EQ(near.turn(2), nullptr);
  EXPECT_EQ(near.at(2, 0, 1, 1), nullptr);
  EXPECT_EQ(near.offset(2, 12, 1, 4), 96U);
  EXPECT_FALSE(near.offset(2, 12, 1, 8));
}

TEST_F(NearMemoryTest, FewPutsGoAloneBetweenSynchronizations) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kAlone; ++i) ASSERT_TRUE(near.goes_alone(1));
    EXPECT_FALSE(near.goes_alone(1));
    EXPECT_FALSE(near.goes_alone(1));
    EXPECT_TRUE(near.goes_alone(2)) << "each rank has its own count";
    near.synchronize();
  }
}

TEST_F(NearMemoryTest, DataOfAllSizesIsCopied) {
  for (const std::size_t size : {0, 1, 262'143, 262'144, 262'145, 1'000'000}) {
    std::vector<std::byte> from(size), there(size + 1, std::byte{9});
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
    copy_there(there.data(), from.data(), size);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), there.begin()));
    EXPECT_EQ(there[size], std::byte{9});
  }
}

TEST_F(NearMemoryTest, NothingIsAllowedAtFirst) {
  for (const int rank : {-2, -1, 0, 1, 2, 3, 1000}) EXPECT_FALSE(near.allowed(rank));
}

TEST_F(NearMemoryTest, WhatIsAllowedIsSoUntilEpochsChange) {
  near.allow(1, near.epochs());
  EXPECT_TRUE(near.allowed(1));
  EXPECT_FALSE(near.allowed(2));
  near.change_epochs(true);
  EXPECT_FALSE(near.allowed(1));
  EXPECT_EQ(near.epochs() % 2, 1U);
  near.allow(1, near.epochs());
  near.change_epochs(true);
  EXPECT_FALSE(near.allowed(1));
  near.change_epochs(false);
  EXPECT_FALSE(near.allowed(1));
  EXPECT_EQ(near.epochs() % 2, 0U);
}

TEST_F(NearMemoryTest, WhatWasAskedBeforeAChangeIsNotAllowedAfterIt) {
  const std::uint64_t asked = near.epochs();
  near.change_epochs(false);
  near.allow(1, asked);
  EXPECT_FALSE(near.allowed(1));
}

}  // namespace
}  // namespace isthmus::face
