#include "core/base/number_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace isthmus::core {
namespace {

// Against a set of single numbers.
TEST(NumberSet, HoldsWhatWasAddedAndNotRemoved) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    NumberSet numbers;
    std::set<std::uint64_t> expected;
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t first = 1 + random() % 60, last = first + random() % 9;
      const bool add = random() % 2 == 0;
      if (add)
        numbers.add(first, last);
      else
        numbers.remove(first, last);
      for (auto n = first; n <= last; ++n) {
        if (add)
          expected.insert(n);
        else
          expected.erase(n);
      }
      std::uint64_t end = 0;
      for (const auto& [from, to] : numbers.ranges()) {
        ASSERT_LE(from, to);
        ASSERT_TRUE(end == 0 || from > end + 1) << "ranges touch";
        end = to;
      }
      for (std::uint64_t n = 1; n < 70; ++n) {
        ASSERT_EQ(numbers.contains(n), expected.contains(n)) << "seed " << seed << ", " << n;
        const auto at = numbers.from(n);
        const auto next = expected.lower_bound(n);
        ASSERT_EQ(at == numbers.ranges().end(), next == expected.end());
        if (next != expected.end()) {
          ASSERT_EQ(std::max(at->first, n), *next);
        }
      }
      ASSERT_EQ(numbers.empty(), expected.empty());
    }
  }
}

}  // namespace
}  // namespace isthmus::core
