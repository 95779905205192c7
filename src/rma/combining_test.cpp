#include "rma/combining.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace isthmus::rma {
namespace {

std::span<const std::byte> bytes_of(const std::vector<std::int64_t>& numbers) {
  return std::as_bytes(std::span(numbers));
}
std::span<std::byte> bytes_of(std::vector<std::int64_t>& numbers) {
  return std::as_writable_bytes(std::span(numbers));
}
const Combination kAdd{Op::Sum, plain(Number::I64)};

// More than fits into one turn, and no multiple of it.
constexpr std::size_t kMany = 20'001;

Elements all_of(std::vector<std::int64_t>& numbers) {
  return {.memory = bytes_of(numbers).data(), .size = bytes_of(numbers).size()};
}

TEST(CombiningTest, AllElementsAreCombinedAndTold) {
  Turn turn;
  for (Turn* const in : {static_cast<Turn*>(nullptr), &turn}) {
    std::vector<std::int64_t> there(kMany), data(kMany, 5), before(kMany);
    std::iota(there.begin(), there.end(), 0);
    ASSERT_TRUE(combine_there(all_of(there), kAdd, bytes_of(data), bytes_of(before), in));
    for (std::size_t i = 0; i < kMany; ++i) {
      ASSERT_EQ(before[i], static_cast<std::int64_t>(i));
      ASSERT_EQ(there[i], static_cast<std::int64_t>(i) + 5);
    }
  }
}

TEST(CombiningTest, WithoutDataNothingChanges) {
  std::vector<std::int64_t> there(kMany, 7), before(kMany);
  const Combination how{Op::NoOp, plain(Number::I64)};
  ASSERT_TRUE(combine_there(all_of(there), how, {}, bytes_of(before), nullptr));
  EXPECT_EQ(before, there);
  EXPECT_EQ(there, std::vector<std::int64_t>(kMany, 7));
}

TEST(CombiningTest, ThreadsLoseNothing) {
  Turn turn;
  std::vector<std::int64_t> there(kMany);
  const std::vector<std::int64_t> data(kMany, 1);
  const auto add = [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(combine_there(all_of(there), kAdd, bytes_of(data), {}, &turn));
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(there, std::vector<std::int64_t>(kMany, 200));
}

TEST(CombiningTest, SwapsTakeTurnsWithSums) {
  Turn turn;
  std::vector<std::int64_t> there(1);
  const std::vector<std::int64_t> one(1, 1);
  const auto add = [&] {
    for (int i = 0; i < 10'000; ++i) {
      EXPECT_TRUE(combine_there(all_of(there), kAdd, bytes_of(one), {}, &turn));
    }
  };
  std::thread other(add);
  std::vector<std::int64_t> expected(1), wanted(1), before(1);
  for (int done = 0; done < 10'000;) {
    wanted[0] = expected[0] + 1;
    swap_there(bytes_of(there).data(), bytes_of(expected), bytes_of(wanted), bytes_of(before),
               &turn);
    if (before == expected) ++done;
    expected = before;
  }
  other.join();
  EXPECT_EQ(there[0], 20'000);
}

}  // namespace
}  // namespace isthmus::rma
