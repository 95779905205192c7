// Members of a window fail while others use it.
#include <atomic>
#include <memory>
#include <vector>

#include "rma/limits.hpp"
#include "rma/window_testbed.hpp"

namespace isthmus::rma {
namespace {

constexpr int kDead = 2;

class WindowFailing : public WindowTest {
 protected:
  /// Its last frames are lost.
  void fail() {
    std::erase_if(frames, [](const Frame& frame) {
      return frame.out.source == 10 + kDead || frame.out.destination == 10 + kDead;
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank != kDead) at(rank).engine.fail(10 + kDead, 1);
    }
    processes[kDead]->window.send_all();
    holds = [](const core::OutFrame& out) { return out.source == 10 + kDead; };
    run();
  }

  /// The failed process ends its own operations, which nothing else does here.
  void TearDown() override {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank != kDead) at(kDead).engine.fail(10 + static_cast<core::NodeId>(rank), 1);
    }
    run();
    WindowTest::TearDown();
  }
};

TEST_F(WindowFailing, OperationsWithAFailedTargetEndAndCountAsLost) {
  for (const std::size_t size : {std::size_t{8}, kApart, kSize}) {
    const auto sent = some_bytes(size);
    std::vector<std::byte> got(size);
    const auto put = std::make_shared<std::atomic<int>>(0);
    const auto get = std::make_shared<std::atomic<int>>(0);
    if (size == 8) {
      for (int rank = 0; rank < 2; ++rank) window(rank).lock(kDead, LockType::Exclusive);
    }
    window(0).put({.rank = kDead}, sent, nullptr, put);
    window(0).get({.rank = kDead}, got, get);
    window(1).start(kDead);
    window(1).put({.rank = kDead}, sent, nullptr, nullptr);
    if (size == 8) fail();
    const std::uint64_t number = window(0).flush(kDead);
    window(1).complete(kDead);
    run();
    EXPECT_TRUE(window(0).done(kDead, number));
    EXPECT_TRUE(window(0).caught_up(kDead));
    EXPECT_EQ(parts_left(put), 0);
    EXPECT_EQ(parts_left(get), 0);
    EXPECT_TRUE(is_lost(get));
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(window(rank).failed(kDead));
      EXPECT_TRUE(window(rank).all_sent(kDead));
      EXPECT_TRUE(window(rank).take_loss(kDead)) << rank;
      EXPECT_FALSE(window(rank).take_loss(kDead)) << rank;
      EXPECT_TRUE(window(rank).quiet());
    }
  }
}

TEST_F(WindowFailing, ALockOfAFailedOriginPassesOn) {
  window(kDead).lock(0, LockType::Exclusive);
  window(kDead).send_now(0);
  run();
  ASSERT_TRUE(window(kDead).granted(0));
  window(1).lock(0, LockType::Exclusive);
  const std::int64_t one = 1;
  window(1).put({.rank = 0}, number_bytes(one), nullptr, nullptr);
  const std::uint64_t number = window(1).unlock(0);
  run();
  EXPECT_FALSE(window(1).done(0, number));
  fail();
  EXPECT_TRUE(window(1).done(0, number));
  EXPECT_EQ(number_at(0, 0), 1);
  EXPECT_FALSE(window(1).take_loss(0));
}

TEST_F(WindowFailing, ALockThatAFailedOriginWaitsForGoesToTheNext) {
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  window(kDead).lock(0, LockType::Exclusive);
  const auto large = some_bytes(kSize);
  window(kDead).put({.rank = 0}, large, nullptr, nullptr);
  run();
  window(0).lock(0, LockType::Shared);
  window(0).send_now(0);
  run();
  fail();
  EXPECT_FALSE(window(0).granted(0));
  window(1).unlock(0);
  run();
  EXPECT_TRUE(window(0).granted(0));
}

TEST_F(WindowFailing, AnAccumulateWhoseDataStopsLeavesOthersAlone) {
  std::vector<std::int64_t> large(kSize / sizeof(std::int64_t), 1);
  holds = [](const core::OutFrame& out) { return out.source == 10 + kDead; };
  window(kDead).accumulate({.rank = 0}, kSum, std::as_bytes(std::span(large)), nullptr, nullptr);
  run();
  frames.assign(held.begin(), held.begin() + 1);
  held.clear();
  run();
  fail();
  const std::int64_t one = 1;
  window(1).accumulate({.rank = 0}, kSum, number_bytes(one), nullptr, nullptr);
  flush(1, 0);
  EXPECT_GE(number_at(0, 0), 1);
  EXPECT_TRUE(window(0).quiet());
}

}  // namespace
}  // namespace isthmus::rma
