#include "mpi/profile/rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "mpi/profile/ranges.hpp"

namespace isthmus::face::profile {
namespace {

TEST(SizeClass, IsTheLogarithmAndOne) {
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(size_class(1), 1U);
  EXPECT_EQ(size_class(7), 3U);
  EXPECT_EQ(size_class(8), 4U);
  EXPECT_EQ(size_class(15), 4U);
  EXPECT_EQ(size_class(~std::uint64_t{0}), kSizeClasses - 1);
}

TEST(Rows, CountByReceiverAndSize) {
  Rows rows;
  rows.of(3).count(8);
  rows.of(3).count(9);
  rows.of(70'000).count(0);
  std::map<int, std::uint64_t> bytes;
  rows.each([&](int to, const Sizes& sizes) { bytes[to] = sizes.bytes; });
  EXPECT_EQ(bytes, (std::map<int, std::uint64_t>{{Rows::kOthers, 0}, {3, 17}, {70'000, 0}}));
  EXPECT_EQ(rows.of(3).messages[4], 2U);
  EXPECT_EQ(rows.of(70'000).messages[0], 1U);
}

TEST(Rows, StayWhereTheyAre) {
  Rows rows;
  Sizes& first = rows.of(0);
  for (int rank = 1; rank < 1000; ++rank) rows.of(rank).count(1);
  EXPECT_EQ(&first, &rows.of(0));
}

TEST(Rows, BeyondTheBoundShareOne) {
  Rows rows;
  const int most = static_cast<int>(Rows::kMost);
  for (int rank = 0; rank < most; ++rank) rows.of(rank).count(1);
  rows.of(most).count(100);
  rows.of(most + 1).count(100);
  EXPECT_EQ(&rows.of(most), &rows.of(Rows::kOthers));
  EXPECT_EQ(rows.of(Rows::kOthers).bytes, 200U);
  EXPECT_NE(&rows.of(most - 1), &rows.of(Rows::kOthers));
}

TEST(Ranges, AreFirstLastAndStep) {
  using All = std::vector<std::array<int, 3>>;
  const auto of = [](const std::vector<int>& numbers) { return ranges_of(numbers); };
  EXPECT_EQ(of({}), All{});
  EXPECT_EQ(of({5}), (All{{5, 5, 1}}));
  EXPECT_EQ(of({0, 1, 2, 3}), (All{{0, 3, 1}}));
  EXPECT_EQ(of({0, 4, 8}), (All{{0, 8, 4}}));
  EXPECT_EQ(of({0, 1, 2, 7, 9, 11}), (All{{0, 2, 1}, {7, 11, 2}}));
}

}  // namespace
}  // namespace isthmus::face::profile
