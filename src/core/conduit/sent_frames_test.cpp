#include "core/conduit/sent_frames.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace isthmus::core {
namespace {

std::vector<std::uint64_t> left(const SentFrames& sent) {
  std::vector<std::uint64_t> numbers;
  sent.each([&](std::uint64_t number, const SentFrames::Slot&) {
    numbers.push_back(number);
    return true;
  });
  return numbers;
}

TEST(SentFrames, EachIsAcknowledgedOnceInAnyOrder) {
  std::mt19937 random(1);
  SentFrames sent;
  std::set<std::uint64_t> waiting;
  for (int step = 0; step < 3000; ++step) {
    for (auto count = random() % 4; count > 0; --count) {
      waiting.insert(sent.end());
      sent.add(packet_for(8), 1, {});
    }
    const std::uint64_t first = random() % sent.end();
    const std::uint64_t last = std::min(sent.end() - 1, first + random() % 20);
    sent.acknowledge(first, last, [&](std::uint64_t number, auto packet, const auto&) {
      EXPECT_NE(packet, nullptr);
      EXPECT_TRUE(number >= first && number <= last);
      EXPECT_EQ(waiting.erase(number), 1U);
    });
    sent.trim();
    for (const std::uint64_t number : waiting) EXPECT_FALSE(number >= first && number <= last);
  }
  EXPECT_EQ(left(sent), std::vector<std::uint64_t>(waiting.begin(), waiting.end()));
}

TEST(SentFrames, OneThatIsNeverAcknowledgedDoesNotHoldTheSlotsOfOthers) {
  SentFrames sent;
  for (int i = 0; i < 100'000; ++i) {
    sent.add(packet_for(8), 1, {});
    const std::uint64_t number = sent.end() - 1;
    if (number != 7) sent.acknowledge(number, number, [](auto, const auto&, const auto&) {});
    sent.trim();
  }
  EXPECT_EQ(left(sent), std::vector<std::uint64_t>{7});
  sent.lose(1);
  EXPECT_EQ(sent.resend(2, Time(5)).second, &sent.at(7));
}

TEST(SentFrames, WhatAStreamCarriedGoesAgainInOrderUnlessItIsAcknowledged) {
  SentFrames sent;
  for (const StreamId stream : {1U, 2U, 1U, 1U}) sent.add(packet_for(8), stream, {});
  sent.lose(1);
  EXPECT_EQ(sent.lost(), 3U);
  sent.acknowledge(3, 3, [](auto, const auto&, const auto&) {});
  for (const std::uint64_t expected : {1U, 4U}) {
    ASSERT_TRUE(sent.any_lost());
    const auto [number, slot] = sent.resend(2, Time(9));
    EXPECT_EQ(number, expected);
    EXPECT_EQ(slot->stream, 2U);
    EXPECT_EQ(slot->at, Time(9));
  }
  EXPECT_FALSE(sent.any_lost());
}

}  // namespace
}  // namespace isthmus::core
