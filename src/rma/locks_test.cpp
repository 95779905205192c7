#include "rma/locks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace isthmus::rma {
namespace {

TEST(Locks, SharedTogetherExclusiveAlone) {
  Locks locks;
  EXPECT_TRUE(locks.request(1, LockType::Shared));
  EXPECT_TRUE(locks.request(2, LockType::Shared));
  EXPECT_FALSE(locks.request(3, LockType::Exclusive));
  EXPECT_TRUE(locks.release(1).empty());
  EXPECT_EQ(locks.release(2), std::vector<int>{3});
  EXPECT_TRUE(locks.holds(3));
  EXPECT_FALSE(locks.request(1, LockType::Shared));
  EXPECT_EQ(locks.release(3), std::vector<int>{1});
}

TEST(Locks, SharersComeNotBeforeWhoWaits) {
  Locks locks;
  EXPECT_TRUE(locks.request(1, LockType::Shared));
  EXPECT_FALSE(locks.request(2, LockType::Exclusive));
  EXPECT_FALSE(locks.request(3, LockType::Shared));
  EXPECT_TRUE(locks.waits(3));
  EXPECT_EQ(locks.release(1), std::vector<int>{2});
  EXPECT_EQ(locks.release(2), std::vector<int>{3});
}

TEST(Locks, WhoMayHoldOthersPassesThoseWhoWait) {
  Locks locks;
  EXPECT_TRUE(locks.request(1, LockType::Shared));
  EXPECT_FALSE(locks.request(2, LockType::Exclusive));
  EXPECT_TRUE(locks.request(3, LockType::Passing));
  EXPECT_TRUE(locks.release(1).empty());
  EXPECT_EQ(locks.release(3), std::vector<int>{2});
  // It does not pass a sole exclusive holder; later it holds with all that share it.
  EXPECT_FALSE(locks.request(1, LockType::Shared));
  EXPECT_FALSE(locks.request(4, LockType::Exclusive));
  EXPECT_FALSE(locks.request(3, LockType::Passing));
  EXPECT_EQ(locks.release(2), (std::vector<int>{1, 3}));
  EXPECT_TRUE(locks.waits(4));
}

TEST(Locks, WhoWaitsMayPassFromThenOn) {
  Locks locks;
  EXPECT_TRUE(locks.request(1, LockType::Shared));
  EXPECT_FALSE(locks.request(2, LockType::Exclusive));
  EXPECT_FALSE(locks.request(3, LockType::Shared));
  EXPECT_FALSE(locks.pass(2));
  EXPECT_FALSE(locks.pass(4));
  EXPECT_TRUE(locks.pass(3));
  EXPECT_TRUE(locks.holds(3) && !locks.waits(3));
  EXPECT_FALSE(locks.pass(3));
  locks.release(1);
  EXPECT_EQ(locks.release(3), std::vector<int>{2});
  EXPECT_FALSE(locks.request(3, LockType::Shared));
  EXPECT_FALSE(locks.request(4, LockType::Exclusive));
  EXPECT_FALSE(locks.request(5, LockType::Shared));
  EXPECT_FALSE(locks.pass(5));
  EXPECT_EQ(locks.release(2), (std::vector<int>{3, 5}));
}

// For any requests: an exclusive lock is alone, every rank gets its turn, and in the end no rank
// holds one.
TEST(Locks, NobodyStarves) {
  std::mt19937 random(3);
  Locks locks;
  std::map<int, bool> holding;  // rank -> exclusive
  std::map<int, bool> asked;    // waiting
  std::vector<int> order, served;
  const auto take = [&](int rank, bool exclusive) {
    EXPECT_TRUE(holding.empty() || (!exclusive && !holding.begin()->second));
    holding[rank] = exclusive;
    served.push_back(rank);
  };
  for (int step = 0; step < 20'000; ++step) {
    const int rank = static_cast<int>(random() % 12);
    if (holding.contains(rank)) {
      holding.erase(rank);
      for (const int next : locks.release(rank)) {
        take(next, asked.at(next));
        asked.erase(next);
      }
    } else if (!asked.contains(rank)) {
      const bool exclusive = random() % 2 == 0;
      order.push_back(rank);
      if (locks.request(rank, exclusive ? LockType::Exclusive : LockType::Shared)) {
        take(rank, exclusive);
      } else {
        asked[rank] = exclusive;
      }
    }
  }
  order.resize(served.size());
  EXPECT_EQ(served, order) << "first come, first served";
}

TEST(Locks, AFailedRankHoldsNoneAndWaitsForNone) {
  Locks locks;
  EXPECT_TRUE(locks.request(0, LockType::Exclusive));
  EXPECT_FALSE(locks.request(1, LockType::Exclusive));
  EXPECT_FALSE(locks.request(2, LockType::Shared));
  EXPECT_FALSE(locks.request(3, LockType::Shared));
  EXPECT_TRUE(locks.forget(1).empty());
  EXPECT_FALSE(locks.waits(1));
  EXPECT_EQ(locks.forget(0), (std::vector<int>{2, 3}));
}

}  // namespace
}  // namespace isthmus::rma
