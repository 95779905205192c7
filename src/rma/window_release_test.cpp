// Memory that a call has given back may change: it is not read any more.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "rma/limits.hpp"
#include "rma/window_testbed.hpp"

namespace isthmus::rma {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::byte kBefore{1}, kAfter{2};

// Sizes around those from which on data goes another way.
const std::vector<std::size_t> kSizes{1,     kApart - 1, kApart,       kApart + 1,
                                      kPart, kPart + 1,  kPart + 7777, kSize};

class WindowRelease : public WindowTest, public testing::WithParamInterface<bool> {
 protected:
  WindowRelease() {
    if (GetParam()) lend();
  }
  void fill(int rank, std::byte value) { std::ranges::fill(at(rank).memory, value); }
  // Calls `body` for each size under several orders of arrival.
  template <class Body>
  void each(Body&& body) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      repeats = seed % 3 == 2;
      for (const std::size_t size : kSizes) {
        random.seed(seed);
        fill(1, kBefore);
        body(size);
        run();
        for (int rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(window(rank).quiet());
      }
    }
  }
  static bool all_are(const Bytes& bytes, std::byte value) {
    return std::ranges::all_of(bytes, [value](std::byte each) { return each == value; });
  }
};

TEST_P(WindowRelease, TheTargetChangesItsMemoryOnceAnEpochIsComplete) {
  each([this](std::size_t size) {
    Bytes got(size);
    window(1).post(0);
    window(0).start(1);
    window(0).get({.rank = 1}, got, nullptr);
    window(0).complete(1);
    bool changed = false;
    do {
      if (!window(1).target().has_completed(0)) continue;
      window(1).target().take_complete(0);
      fill(1, kAfter);
      changed = true;
    } while (step());
    EXPECT_TRUE(changed);
    EXPECT_TRUE(all_are(got, kBefore)) << size;
  });
}

TEST_P(WindowRelease, TheNextHolderOfALockChangesTheMemory) {
  each([this](std::size_t size) {
    Bytes got(size);
    const Bytes put(size, kAfter);
    window(0).lock(1, LockType::Shared);
    window(0).get({.rank = 1}, got, nullptr);
    window(0).send_now(1);
    while (!window(0).granted(1)) ASSERT_TRUE(step());
    window(2).lock(1, LockType::Exclusive);
    window(2).put({.rank = 1}, put, nullptr, nullptr);
    window(2).unlock(1);
    window(0).unlock(1);
    run();
    EXPECT_TRUE(all_are(got, kBefore)) << size;
    EXPECT_EQ(at(1).memory[0], kAfter);
  });
}

TEST_P(WindowRelease, TheTargetChangesItsMemoryUnderItsOwnLock) {
  each([this](std::size_t size) {
    Bytes got(size);
    window(0).lock(1, LockType::Exclusive);
    window(0).get({.rank = 1}, got, nullptr);
    window(0).send_now(1);
    while (!window(0).granted(1)) ASSERT_TRUE(step());
    window(0).unlock(1);
    window(1).lock(1, LockType::Exclusive);
    window(1).send_now(1);
    bool changed = false;
    do {
      if (changed || !window(1).granted(1)) continue;
      fill(1, kAfter);
      changed = true;
    } while (step());
    EXPECT_TRUE(changed);
    window(1).unlock(1);
    run();
    EXPECT_TRUE(all_are(got, kBefore)) << size;
  });
}

TEST_P(WindowRelease, TheTargetIsToldThatAnswersAreOver) {
  each([this](std::size_t size) {
    Bytes got(size);
    window(0).get({.rank = 1}, got, nullptr);
    window(0).send_now(1);
    std::optional<std::uint64_t> begun;
    const std::uint64_t before = window(1).target().lent();
    while (step()) {
      if (!begun && window(1).target().lent() > before) begun = window(1).target().lent();
      if (begun && window(1).target().given_back(*begun)) fill(1, kAfter);
    }
    EXPECT_EQ(begun.has_value(), size >= kApart);
    EXPECT_TRUE(window(1).target().given_back(window(1).target().lent()));
    EXPECT_TRUE(all_are(got, kBefore)) << size;
  });
}

// A fence, a flush and an unlock end when this holds.
TEST_P(WindowRelease, TheOriginChangesItsMemoryOnceAllIsDone) {
  each([this](std::size_t size) {
    Bytes put(size, kAfter);
    const auto ticket = std::make_shared<std::atomic<int>>(0);
    window(0).put({.rank = 1}, put, nullptr, ticket);
    const std::uint64_t number = window(0).flush(1);
    bool changed = false;
    do {
      if (changed || !window(0).done(1, number)) continue;
      EXPECT_EQ(*ticket, 0) << size;
      std::ranges::fill(put, kBefore);
      changed = true;
    } while (step());
    EXPECT_TRUE(changed);
    EXPECT_TRUE(std::all_of(at(1).memory.begin(),
                            at(1).memory.begin() + static_cast<std::ptrdiff_t>(size),
                            [](std::byte each) { return each == kAfter; }));
  });
}

TEST_P(WindowRelease, LittleIsSentBehindAnswersUnderWay) {
  Bytes got(kSize);
  const Bytes small(1000, kAfter);
  window(0).lock(1, LockType::Shared);
  window(0).send_now(1);
  run();
  holds = [](const core::OutFrame& frame) {
    return frame.source == 11 && frame.kind == core::FrameKind::Envelope;
  };
  window(0).get({.rank = 1}, got, nullptr);
  window(0).unlock(1);
  for (int i = 0; i < 5000; ++i) window(0).put({.rank = 1}, small, nullptr, nullptr);
  run();
  EXPECT_LT(arrived_at[1], std::size_t{1} << 20);
  EXPECT_EQ(at(1).memory[0], std::byte{0}) << "the answer is still read";
  holds = nullptr;
  std::swap(frames, held);
  flush(0, 1);
  EXPECT_TRUE(window(0).quiet() && window(1).quiet());
  EXPECT_TRUE(all_are(got, std::byte{0}));
  EXPECT_TRUE(std::equal(small.begin(), small.end(), at(1).memory.begin()));
}

INSTANTIATE_TEST_SUITE_P(Ways, WindowRelease, testing::Bool(),
                         [](const auto& info) { return info.param ? "Lent" : "Sent"; });

}  // namespace
}  // namespace isthmus::rma
