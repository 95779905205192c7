#include "compress/choice.hpp"

#include <gtest/gtest.h>

namespace isthmus::compress {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kFrame = 64 * 1024;

// Frames of data whose shares and times per layout are given; how many went in which, and as they
// were (the last).
std::array<int, kLayouts + 1> play(Choice& choice, int frames,
                                   const std::array<double, kLayouts>& shares,
                                   std::chrono::nanoseconds took) {
  std::array<int, kLayouts + 1> went{};
  for (int i = 0; i < frames; ++i) {
    const auto next = choice.next();
    const auto layout = static_cast<std::size_t>(next.layout);
    ++went[next.compress ? layout : kLayouts];
    if (!next.compress) continue;
    choice.measured(next.layout, kFrame,
                    static_cast<std::size_t>(shares[layout] * static_cast<double>(kFrame)), took);
  }
  return went;
}

TEST(Choice, NothingIsCompressedWhileTheRateIsUnknown) {
  Choice choice;
  EXPECT_EQ(play(choice, 100, {0.1, 0.1, 0.1, 0.1, 0.1}, 1us)[kLayouts], 100);
}

TEST(Choice, TheLayoutThatLeavesLeastIsFoundAndKept) {
  Choice choice;
  choice.set_rate(125e6);
  const auto went = play(choice, 1000, {0.95, 0.8, 0.5, 1, 0.9}, 100us);
  EXPECT_GT(went[2], 950);
  EXPECT_GT(went[0], 0);
  EXPECT_GT(went[1], 0);
}

TEST(Choice, RandomBytesGoAsTheyAreButForATryNowAndThen) {
  Choice choice;
  choice.set_rate(125e6);
  play(choice, 1000, {1, 1, 1, 1, 1}, 150us);
  EXPECT_GE(play(choice, 10'000, {1, 1, 1, 1, 1}, 150us)[kLayouts], 9900);
}

TEST(Choice, ALinkFasterThanTheCoreIsLeftAlone) {
  Choice choice;
  choice.set_rate(1.25e9);
  EXPECT_GT(play(choice, 1000, {0.6, 0.6, 0.6, 0.6, 0.6}, 150us)[kLayouts], 950);
}

TEST(Choice, WhatIsNearlyEmptyIsWorthItOnAFastLinkToo) {
  Choice choice;
  choice.set_rate(1.25e9);
  EXPECT_LT(play(choice, 1000, {0.02, 0.05, 0.05, 0.05, 0.05}, 20us)[kLayouts], 50);
}

TEST(Choice, NewDataIsNoticed) {
  Choice choice;
  choice.set_rate(125e6);
  play(choice, 5000, {1, 1, 1, 1, 1}, 150us);
  play(choice, 1000, {0.3, 0.3, 0.3, 0.3, 0.3}, 100us);
  EXPECT_EQ(play(choice, 100, {0.3, 0.3, 0.3, 0.3, 0.3}, 100us)[kLayouts], 0);
  play(choice, 1000, {1, 1, 1, 1, 1}, 150us);
  EXPECT_GT(play(choice, 1000, {1, 1, 1, 1, 1}, 150us)[kLayouts], 950);
}

}  // namespace
}  // namespace isthmus::compress
