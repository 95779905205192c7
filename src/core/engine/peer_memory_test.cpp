#include "core/engine/peer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <vector>

namespace isthmus::core {
namespace {

// Not all systems allow access to other processes' memory, but each to its own, if it has the call.
class PeerMemoryTest : public testing::Test {
 protected:
  PeerMemoryTest() {
    std::mt19937 random(1);
    for (std::byte& b : memory) b = static_cast<std::byte>(random());
  }
  std::vector<std::byte> memory = std::vector<std::byte>(100'000);
  std::optional<PeerMemory> peer = PeerMemory::reach(PeerMemory::of_this_process(memory.data()));
};

TEST_F(PeerMemoryTest, BytesGoThereAndBack) {
  if (!peer) GTEST_SKIP() << "the system has no process_vm_readv";
  std::vector<std::byte> got(50'000);
  ASSERT_TRUE(peer->read(7, got));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), memory.begin() + 7));
  std::reverse(got.begin(), got.end());
  ASSERT_TRUE(peer->write(11, got));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), memory.begin() + 11));
}

TEST_F(PeerMemoryTest, MapsSayWhere) {
  if (!peer) GTEST_SKIP() << "the system has no process_vm_readv";
  TypeMapBuilder builder;
  builder.add(TypeMap::basic(3, 3), 1, 5, 4000, 20);
  const TypeMap map = std::move(builder).build();
  std::vector<std::byte> got(12'000), expected(12'000);
  ASSERT_TRUE(peer->read(9, TypeCursor(map, 1), got));
  TypeCursor cursor(map, 1);
  pack(cursor, memory.data() + 9, expected);
  EXPECT_EQ(got, expected);
  std::reverse(got.begin(), got.end());
  ASSERT_TRUE(peer->write(9, TypeCursor(map, 1), got));
  TypeCursor again(map, 1);
  pack(again, memory.data() + 9, expected);
  EXPECT_EQ(got, expected);
}

TEST_F(PeerMemoryTest, OtherProcessesAreKnownByTheirMark) {
  PeerMemory::Address address = PeerMemory::of_this_process(memory.data());
  address.mark[1] ^= 1;
  EXPECT_FALSE(PeerMemory::reach(address));
  address.mark_at = 8;
  EXPECT_FALSE(PeerMemory::reach(address));
  EXPECT_FALSE(PeerMemory::reach({}));
}

TEST_F(PeerMemoryTest, WhatIsNoMemoryIsTold) {
  if (!peer) GTEST_SKIP() << "the system has no process_vm_readv";
  const auto at_nothing = PeerMemory::reach(PeerMemory::of_this_process(nullptr));
  ASSERT_TRUE(at_nothing);
  std::vector<std::byte> got(8);
  EXPECT_FALSE(at_nothing->read(0, got));
  EXPECT_FALSE(at_nothing->write(0, got));
  EXPECT_TRUE(at_nothing->there());
}

TEST_F(PeerMemoryTest, AProcessThatEndedIsNotThere) {
  if (!peer) GTEST_SKIP() << "the system has no process_vm_readv";
  int wait_here[2];
  ASSERT_EQ(pipe(wait_here), 0);
  PeerMemory::Address address = PeerMemory::of_this_process(memory.data());
  const pid_t child = fork();
  if (child == 0) {  // its memory is a copy of this one's, with the mark
    close(wait_here[1]);
    char end = 0;
    _exit(read(wait_here[0], &end, 1) == 0 ? 0 : 1);
  }
  close(wait_here[0]);
  address.pid = child;
  const auto other = PeerMemory::reach(address);
  EXPECT_TRUE(other);
  close(wait_here[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->there());
  std::vector<std::byte> got(8);
  EXPECT_FALSE(other->read(0, got));
}

}  // namespace
}  // namespace isthmus::core
