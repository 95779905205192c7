#include "mpi/process/traffic.hpp"

#include <gtest/gtest.h>

#include <set>

namespace isthmus::face::traffic {
namespace {

TEST(Traffic, CourierTagsStayWithinWhatMpiPromises) {
  std::set<int> seen;
  for (int tag = 0; tag <= kPromisedTags; ++tag) {
    const int native = courier_tag(tag, kPromisedTags);
    EXPECT_GE(native, kCourier);
    EXPECT_LE(native, kPromisedTags);
    seen.insert(native);
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kPromisedTags - kCourier + 1));
}

TEST(Traffic, CourierTagsAreDistinctWhereTheLibraryHasEnough) {
  constexpr int kMpich = (1 << 28) - 1;
  EXPECT_EQ(courier_tag(0, kMpich), kCourier);
  EXPECT_EQ(courier_tag(kMpich - kCourier, kMpich), kMpich);
  EXPECT_NE(courier_tag(kPromisedTags, kMpich), courier_tag(kPromisedTags - 1, kMpich));
}

}  // namespace
}  // namespace isthmus::face::traffic
