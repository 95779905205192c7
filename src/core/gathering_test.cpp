#include "core/gathering.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;
using Then = Gathering::Then;

TEST(Gathering, ALoneMessageGoesAtOnce) {
  Gathering gathering;
  for (auto now = 0us; now < 100us; now += Gathering::kApart.count() / 1000 * 1us) {
    EXPECT_EQ(gathering.added(now, 34, false), Then::Flush);
    gathering.taken();
    gathering.flushed(now);
  }
}

TEST(Gathering, WhatFollowsCloselyWaitsForWhoIsWokenOnce) {
  Gathering gathering;
  EXPECT_EQ(gathering.added(0us, 34, false), Then::Flush);
  gathering.taken();
  gathering.flushed(5us);
  EXPECT_EQ(gathering.added(6us, 34, false), Then::Wake);
  EXPECT_EQ(gathering.added(7us, 48, false), Then::Wait);
  EXPECT_EQ(gathering.added(8us, 62, false), Then::Wait);
  gathering.taken();
  EXPECT_EQ(gathering.added(9us, 34, false), Then::Wake);  // while the others are being written
  gathering.flushed(20us);
  EXPECT_EQ(gathering.added(21us, 48, false), Then::Wait);
}

TEST(Gathering, NothingWaitsForLongOrInLargeNumbers) {
  Gathering gathering;
  gathering.flushed(0us);
  EXPECT_EQ(gathering.added(1us, 34, false), Then::Wake);
  EXPECT_EQ(gathering.added(2us, Gathering::kMost, false), Then::Flush);
  EXPECT_EQ(gathering.added(Gathering::kApart, 48, false), Then::Flush);  // who is woken is late
}

TEST(Gathering, TheFirstMessageAfterAWaitGoesAtOnce) {
  Gathering gathering;
  gathering.flushed(0us);
  EXPECT_EQ(gathering.added(1us, 34, true), Then::Flush);
}

}  // namespace
}  // namespace isthmus::core
