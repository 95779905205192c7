#include "mpi/process/traffic.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <set>

namespace isthmus::face::traffic {
namespace {

constexpr int kMpich = (1 << 28) - 1;

TEST(Traffic, RangesAndTheCourierShareWhatMpiPromises) {
  for (const int upper_bound : {kPromisedTags, kMpich, INT_MAX}) {
    for (const int clusters : {2, 10, kMostClusters}) {
      const long long end = 1LL * ranges(upper_bound, clusters) * range_size(clusters);
      EXPECT_LE(end, courier_tag(0, 0, upper_bound));
      EXPECT_GT(ranges(upper_bound, clusters), 0);
    }
  }
}

TEST(Traffic, TwinsHaveTheLastQuarter) {
  for (const int upper_bound : {kPromisedTags, kMpich, INT_MAX}) {
    EXPECT_GT(twin_ranges(upper_bound), 50);
    const long long end =
        1LL * twin_tag(twin_ranges(upper_bound) - 1, upper_bound) + range_size(1) - 1;
    EXPECT_LE(end, upper_bound);
    for (int tag = 0; tag < 10'000; ++tag) {
      EXPECT_LT(courier_tag(tag, tag, upper_bound), twin_tag(0, upper_bound));
    }
  }
}

TEST(Traffic, CreationsAreBeyondTheRanges) {
  const long long end = 1LL * ranges(INT_MAX, kMostClusters) * range_size(kMostClusters);
  for (std::uint64_t context = 0; context < 10'000; ++context) {
    const int tag = creation_tag(context << 20, 7, INT_MAX);
    EXPECT_GE(tag, end);
    EXPECT_LT(tag, courier_tag(0, 0, INT_MAX));
    EXPECT_GE(creation_tag(context << 20, 7, kPromisedTags), 0);
  }
}

TEST(Traffic, MoreRangesThanMpichHasContextIds) { EXPECT_GT(ranges(kMpich, 1000), 2048); }

TEST(Traffic, CourierTagsStayWithinWhatMpiPromises) {
  std::set<int> seen;
  for (int tag = 0; tag <= kPromisedTags; ++tag) {
    const int native = courier_tag(tag % 100, tag, kPromisedTags);
    EXPECT_GT(native, kPromisedTags / 2);
    EXPECT_LE(native, kPromisedTags);
  }
}

TEST(Traffic, CourierTagsAreDistinctWhereTheLibraryHasEnough) {
  std::set<int> seen;
  for (int range = 0; range < 100; ++range) {
    for (int tag = 0; tag < 4000; ++tag) seen.insert(courier_tag(range, tag, kMpich));
  }
  EXPECT_EQ(seen.size(), 100U * 4000U);
  EXPECT_NE(courier_tag(0, kPromisedTags, kMpich), courier_tag(0, kPromisedTags - 1, kMpich));
}

}  // namespace
}  // namespace isthmus::face::traffic
