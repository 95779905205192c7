#include "core/base/ranges.hpp"

#include <gtest/gtest.h>

#include <random>

namespace isthmus::core {
namespace {

TEST(Ranges, WhatComesInOrderIsOneRange) {
  Ranges ranges;
  EXPECT_FALSE(ranges.contains(0, 1));
  EXPECT_TRUE(ranges.contains(5, 5));
  for (std::uint64_t i = 0; i < 100; ++i) ranges.add(10 * i, 10 * i + 10);
  EXPECT_EQ(ranges.size(), 1U);
  EXPECT_TRUE(ranges.contains(0, 1000));
  EXPECT_TRUE(ranges.contains(333, 335));
  EXPECT_FALSE(ranges.contains(999, 1001));
}

TEST(Ranges, AgreesWithASetOfNumbers) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Ranges ranges;
    std::vector<bool> model(200);
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t begin = random() % 200;
      const std::uint64_t end = std::min<std::uint64_t>(200, begin + random() % 12);
      ranges.add(begin, end);
      for (auto i = begin; i < end; ++i) model[i] = true;
      const std::uint64_t from = random() % 200;
      const std::uint64_t to = std::min<std::uint64_t>(200, from + random() % 20);
      bool all = true, some = false;
      for (auto i = from; i < to; ++i) {
        all = all && model[i];
        some = some || model[i];
      }
      ASSERT_EQ(ranges.contains(from, to), all) << from << ".." << to;
      ASSERT_EQ(ranges.overlaps(from, to), some) << from << ".." << to;
    }
    std::size_t missing = 0;
    while (missing < model.size() && model[missing]) ++missing;
    EXPECT_EQ(ranges.first_missing(), missing);
    std::size_t runs = 0;
    for (std::size_t i = 0; i < 200; ++i) runs += model[i] && (i == 0 || !model[i - 1]) ? 1 : 0;
    EXPECT_EQ(ranges.size(), runs);
    std::vector<bool> told(200);
    ranges.each([&](std::uint64_t begin, std::uint64_t end) {
      for (auto i = begin; i < end; ++i) told[i] = true;
    });
    EXPECT_EQ(told, model);
  }
}

}  // namespace
}  // namespace isthmus::core
