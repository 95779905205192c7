#include "net/ucx/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace isthmus::net::ucx {
namespace {

std::vector<std::byte> bytes(std::uint64_t from, std::size_t size) {
  std::vector<std::byte> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::byte>((from + i) * 31 >> 3);
  return all;
}

std::vector<std::byte> read(Inbox& inbox, std::size_t most) {
  std::vector<std::byte> all(most);
  const iovec parts[] = {{all.data(), most / 2}, {all.data() + most / 2, most - most / 2}};
  all.resize(inbox.read(parts));
  return all;
}

TEST(InboxTest, PiecesInAnyOrderAreReadInTheirs) {
  Inbox inbox(1000);
  std::mt19937 random(7);
  std::uint64_t sent = 0;
  std::vector<std::byte> got;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<std::uint64_t, std::size_t>> pieces;
    const std::uint64_t limit = inbox.read_so_far() + inbox.window();
    while (sent < limit && pieces.size() < 20) {
      const std::size_t size = std::min<std::uint64_t>(1 + random() % 90, limit - sent);
      pieces.emplace_back(sent, size);
      sent += size;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    for (const auto& [at, size] : pieces) ASSERT_TRUE(inbox.put(at, bytes(at, size)));
    EXPECT_EQ(inbox.arrived(), sent);
    const auto some = read(inbox, 1 + random() % 1200);
    got.insert(got.end(), some.begin(), some.end());
  }
  EXPECT_EQ(got, bytes(0, got.size()));
}

TEST(InboxTest, WhatIsNotOfTheWindowIsNonsense) {
  Inbox inbox(100);
  EXPECT_TRUE(inbox.put(0, bytes(0, 50)));
  EXPECT_FALSE(inbox.put(40, bytes(40, 20))) << "there already";
  EXPECT_FALSE(inbox.put(50, bytes(50, 51))) << "more than there is room for";
  EXPECT_FALSE(inbox.put(101, bytes(101, 1)));
  EXPECT_FALSE(inbox.put(UINT64_MAX, bytes(0, 2))) << "a sum that runs over";
  EXPECT_TRUE(inbox.put(60, bytes(60, 10)));
  EXPECT_FALSE(inbox.put(55, bytes(55, 10))) << "overlaps one that came early";
  EXPECT_FALSE(inbox.put(65, bytes(65, 10)));
  EXPECT_TRUE(inbox.put(50, bytes(50, 10)));
  EXPECT_EQ(inbox.arrived(), 70U);
}

TEST(InboxTest, GapsAreBounded) {
  Inbox inbox(10'000);
  int kept = 0;
  while (kept < 10'000 && inbox.put(2U * static_cast<unsigned>(kept) + 1, bytes(0, 1))) ++kept;
  EXPECT_LE(kept, 64);
}

}  // namespace
}  // namespace isthmus::net::ucx
