#include "lab/delay_line.hpp"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

Packet numbered(std::uint32_t number) {
  Packet packet;
  packet.size = number;
  return packet;
}

std::vector<std::uint32_t> drain(DelayLine& line) {
  std::vector<std::uint32_t> sizes;
  while (line.next()) sizes.push_back(line.pop().packet.size);
  return sizes;
}

TEST(DelayLine, ComesOutWhenDue) {
  DelayLine line;
  EXPECT_FALSE(line.next());
  line.push(numbered(1), 100, true);
  line.push(numbered(2), 200, true);
  EXPECT_EQ(line.next(), 100);
  EXPECT_EQ(line.pop().release, 100);
  EXPECT_EQ(line.next(), 200);
}

TEST(DelayLine, KeepsOrderWhenAsked) {
  DelayLine line;
  line.push(numbered(1), 300, true);
  line.push(numbered(2), 100, true);
  EXPECT_EQ(line.next(), 300);
  EXPECT_EQ(drain(line), (std::vector<std::uint32_t>{1, 2}));
}

TEST(DelayLine, LetsOvertakeWhenAsked) {
  DelayLine line;
  line.push(numbered(1), 300, false);
  line.push(numbered(2), 100, false);
  EXPECT_EQ(drain(line), (std::vector<std::uint32_t>{2, 1}));
}

TEST(DelayLine, EqualTimesKeepOrderAnyway) {
  DelayLine line;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < 100; ++i) {
    line.push(numbered(i), 5, false);
    wanted.push_back(i);
  }
  EXPECT_EQ(drain(line), wanted);
}

TEST(DelayLine, AClearedLineOwesNothingToWhatWasInIt) {
  DelayLine line;
  line.push(numbered(1), 1000, true);
  line.clear();
  line.push(numbered(2), 10, true);
  EXPECT_EQ(line.next(), 10);
}

}  // namespace
}  // namespace isthmus::lab
