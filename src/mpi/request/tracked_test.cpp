#include "mpi/request/tracked.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace isthmus::face {
namespace {

TEST(TrackedTable, FindsWhatWasInsertedUntilItIsErased) {
  TrackedTable table;
  EXPECT_TRUE(table.empty());
  EXPECT_FALSE(table.find(7));
  table.insert({.key = 7, .source = 3});
  ASSERT_TRUE(table.find(7));
  EXPECT_EQ(table.find(7)->source, 3);
  EXPECT_FALSE(table.find(0));
  table.insert({.key = 7, .source = 4});
  EXPECT_EQ(table.find(7)->source, 4);
  EXPECT_EQ(table.size(), 1U);
  table.erase(8);
  table.erase(7);
  EXPECT_FALSE(table.find(7));
  EXPECT_TRUE(table.empty());
}

TEST(TrackedTable, AgreesWithAMapUnderRandomUse) {
  std::mt19937 random(1);
  TrackedTable table;
  std::map<std::uintptr_t, int> model;
  for (int step = 0; step < 200'000; ++step) {
    const std::uintptr_t key = 16 * (1 + random() % 300);  // as pointers are: aligned
    if (random() % 2 == 0) {
      table.insert({.key = key, .source = step});
      model[key] = step;
    } else {
      table.erase(key);
      model.erase(key);
    }
    const std::uintptr_t asked = 16 * (1 + random() % 300);
    const auto found = table.find(asked);
    const auto expected = model.find(asked);
    ASSERT_EQ(found.has_value(), expected != model.end()) << "step " << step;
    if (found) {
      ASSERT_EQ(found->source, expected->second);
    }
  }
  EXPECT_EQ(table.size(), model.size());
}

}  // namespace
}  // namespace isthmus::face
