// The order of locks, posts, and the data before them.
#include "rma/window_testbed.hpp"

namespace isthmus::rma {
namespace {

TEST_F(WindowTest, LargeAccumulatesWaitBehindALockAndBeyondTheWindowDoNothing) {
  const std::vector<std::int64_t> large(36'000, 1);
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  window(2).lock(0, LockType::Exclusive);
  window(2).accumulate({.rank = 0}, kSum, std::as_bytes(std::span(large)), nullptr, nullptr);
  window(2).accumulate({.rank = 0}, kSum, std::as_bytes(std::span(large)), nullptr, nullptr);
  const std::uint64_t second = window(2).unlock(0);
  run();
  EXPECT_EQ(at(0).memory, std::vector<std::byte>(kSize));
  EXPECT_LT(arrived_at[0], std::size_t{400} << 10);
  const std::uint64_t first = window(1).unlock(0);
  run();
  EXPECT_TRUE(window(1).done(0, first));
  EXPECT_TRUE(window(2).done(0, second));
  for (const std::size_t i : {0, 1, 8191, 8192, 35'999}) EXPECT_EQ(number_at(0, 8 * i), 2);

  window(2).accumulate({.rank = 0, .displacement = kSize - 36'000 * 8 + 8}, kSum,
                       std::as_bytes(std::span(large)), nullptr, nullptr);
  flush(2, 0);
  EXPECT_TRUE(window(2).take_failure(0));
  for (const std::size_t i : {0, 2000, 35'999}) EXPECT_EQ(number_at(0, 8 * i), 2);
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(window(rank).quiet());
}

TEST_F(WindowTest, WhatComesBehindALockWaitsForIt) {
  const std::int64_t one = 1;
  std::int64_t read = -1;
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  EXPECT_TRUE(window(1).granted(0));

  window(2).lock(0, LockType::Exclusive);
  window(2).fetch({.rank = 0}, kSum, number_bytes(one), number_room(read), nullptr);
  const auto large = some_bytes(100'000);
  window(2).put({.rank = 0, .displacement = 8}, large, nullptr, nullptr);
  const std::uint64_t second = window(2).unlock(0);
  run();
  EXPECT_FALSE(window(2).done(0, second));
  EXPECT_FALSE(window(2).granted(0));
  EXPECT_EQ(number_at(0, 0), 0);

  window(1).accumulate({.rank = 0}, kSum, number_bytes(one), nullptr, nullptr);
  const std::uint64_t first = window(1).unlock(0);
  run();
  EXPECT_TRUE(window(1).done(0, first));
  EXPECT_TRUE(window(2).done(0, second));
  EXPECT_EQ(read, 1);
  EXPECT_EQ(number_at(0, 0), 2);
  EXPECT_TRUE(std::equal(large.begin(), large.end(), at(0).memory.begin() + 8));
}

TEST_F(WindowTest, LocksOfAllOnAllGoRound) {
  const std::int64_t one = 1;
  std::vector<std::pair<int, std::uint64_t>> asked;
  for (int i = 0; i < 20; ++i) {
    const int rank = i % kRanks;
    window(rank).lock(0, random() % 2 == 0 ? LockType::Exclusive : LockType::Shared);
    window(rank).accumulate({.rank = 0, .displacement = 16}, kSum, number_bytes(one), nullptr,
                            nullptr);
    asked.emplace_back(rank, window(rank).unlock(0));
  }
  run();
  for (const auto& [rank, number] : asked) EXPECT_TRUE(window(rank).done(0, number));
  EXPECT_EQ(number_at(0, 16), 20);
}

// Two ranks that each hold a shared lock ask for the other's target, while a third waits for an
// exclusive lock: behind it they would wait for each other.
TEST_F(WindowTest, WhoHoldsALockPassesThoseWhoWaitForAnExclusiveOne) {
  const std::int64_t one = 1;
  const auto add = [&](int rank, int target) {
    window(rank).accumulate({.rank = target}, kSum, number_bytes(one), nullptr, nullptr);
    window(rank).send_now(target);
  };
  // Passing: as for a rank that requests two locks at once. Shared: as for one that requests the
  // second lock later.
  for (const LockType first : {LockType::Passing, LockType::Shared}) {
    window(0).lock(0, first);
    window(0).send_now(0);
    run();
    window(1).lock(1, first);
    window(1).send_now(1);
    run();
    window(2).lock(0, LockType::Exclusive);
    add(2, 0);
    window(2).lock(1, LockType::Exclusive);
    add(2, 1);
    run();
    EXPECT_FALSE(window(2).granted(0) || window(2).granted(1));
    window(0).lock(1, LockType::Shared);
    add(0, 1);
    window(1).lock(0, LockType::Shared);
    add(1, 0);
    run();
    EXPECT_TRUE(window(0).granted(1) && window(1).granted(0));
    for (const int rank : {0, 1, 2}) {
      for (const int target : {0, 1}) window(rank).unlock(target);
    }
    run();
  }
  EXPECT_EQ(number_at(0, 0), 4);
  EXPECT_EQ(number_at(1, 0), 4);
}

// The first of two locks already waits behind an exclusive one when the second is requested.
TEST_F(WindowTest, TheFirstSharedLockPassesOnceThereIsASecond) {
  window(1).lock(0, LockType::Shared);
  window(1).send_now(0);
  run();
  window(2).lock(0, LockType::Exclusive);
  window(2).send_now(0);
  run();
  window(0).lock(0, LockType::Shared);
  window(0).send_now(0);
  run();
  EXPECT_FALSE(window(0).granted(0));
  window(0).lock(1, LockType::Shared);
  window(0).send_now(1);
  run();
  EXPECT_TRUE(window(0).granted(0) && window(0).granted(1));
  EXPECT_FALSE(window(2).granted(0));
}

TEST_F(WindowTest, NeitherSideKeepsMuchBehindALock) {
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  window(2).lock(0, LockType::Shared);
  const auto some = some_bytes(50'000);
  std::size_t put = 0;
  for (; window(2).has_room(0); put += some.size()) {
    window(2).put({.rank = 0}, some, nullptr, nullptr);
    window(2).put({.rank = 0, .displacement = 50'000}, std::span(some).first(20'000), nullptr,
                  nullptr);
    run();
    ASSERT_LT(put, std::size_t{1} << 30);
  }
  EXPECT_LT(arrived_at[0], std::size_t{1} << 20);
  const std::uint64_t number = window(2).unlock(0);
  window(1).unlock(0);
  run();
  EXPECT_TRUE(window(2).done(0, number));
  EXPECT_TRUE(window(2).quiet());
  EXPECT_TRUE(std::equal(some.begin(), some.end(), at(0).memory.begin()));
}

TEST_F(WindowTest, WhatComesBehindAStartWaitsForThePost) {
  const std::int64_t one = 1;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    window(0).start(1);
    window(0).accumulate({.rank = 1}, kSum, number_bytes(one), nullptr, nullptr);
    window(0).complete(1);
    window(0).post(1);  // is not kept back
    run();
    EXPECT_EQ(number_at(1, 0), epoch - 1);
    EXPECT_FALSE(window(1).target().has_completed(0));
    EXPECT_FALSE(window(0).all_sent(1));
    window(1).post(0);
    run();
    EXPECT_TRUE(window(0).all_sent(1));
    EXPECT_EQ(number_at(1, 0), epoch);
    EXPECT_TRUE(window(1).target().has_completed(0));
    window(1).target().take_complete(0);
  }
  EXPECT_TRUE(window(0).quiet());
}

TEST_F(WindowTest, CompletesComeBehindTheirData) {
  window(1).post(0);
  window(0).start(1);
  const auto large = some_bytes(200'000);
  window(0).put({.rank = 1}, large, nullptr, nullptr);
  window(0).complete(1);
  while (step()) {
    if (!window(1).target().has_completed(0)) continue;
    EXPECT_TRUE(std::equal(large.begin(), large.end(), at(1).memory.begin()));
  }
  EXPECT_TRUE(window(1).target().has_completed(0));
  window(1).target().take_complete(0);
  EXPECT_FALSE(window(1).target().has_completed(0));
}

}  // namespace
}  // namespace isthmus::rma
