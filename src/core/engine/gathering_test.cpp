#include "core/engine/gathering.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;
using Then = Gathering::Then;

TEST(Gathering, ALoneMessageGoesAtOnce) {
  Gathering gathering;
  for (auto now = 0us; now < 100us; now += Gathering::kApart.count() / 1000 * 1us) {
    EXPECT_EQ(gathering.added(now, 34, false, false), Then::Flush);
    gathering.taken();
    gathering.flushed(now);
  }
}

TEST(Gathering, WhatFollowsCloselyWaitsForWhoIsWokenOnce) {
  Gathering gathering;
  EXPECT_EQ(gathering.added(0us, 34, false, false), Then::Flush);
  gathering.taken();
  gathering.flushed(5us);
  EXPECT_EQ(gathering.added(6us, 34, false, false), Then::Wake);
  EXPECT_EQ(gathering.added(7us, 48, false, false), Then::Wait);
  EXPECT_EQ(gathering.added(8us, 62, false, false), Then::Wait);
  gathering.taken();
  EXPECT_EQ(gathering.added(9us, 34, false, false),
            Then::Wake);  // while the others are being written
  gathering.flushed(20us);
  EXPECT_EQ(gathering.added(21us, 48, false, false), Then::Wait);
}

TEST(Gathering, NothingWaitsForLongOrInLargeNumbers) {
  Gathering gathering;
  gathering.flushed(0us);
  EXPECT_EQ(gathering.added(1us, 34, false, false), Then::Wake);
  EXPECT_EQ(gathering.added(2us, Gathering::kMost, false, false), Then::Flush);
  EXPECT_EQ(gathering.added(Gathering::kApart, 48, false, false), Then::Flush);  // woken is late
}

TEST(Gathering, TheFirstMessageAfterAWaitGoesAtOnce) {
  Gathering gathering;
  gathering.flushed(0us);
  EXPECT_EQ(gathering.added(1us, 34, true, false), Then::Flush);
}

TEST(Gathering, TheFirstFewToAPeerBesideLeaveAtOnce) {
  Gathering gathering;
  EXPECT_EQ(gathering.added(0us, 34, true, true), Then::Flush);
  for (unsigned i = 1; i < Gathering::kBeside; ++i) {
    gathering.taken();
    gathering.flushed(1us);
    EXPECT_EQ(gathering.added(2us, 34, false, true), Then::Flush) << i;
  }
  gathering.taken();
  gathering.flushed(3us);
  EXPECT_EQ(gathering.added(4us, 34, false, true), Then::Wake);
  EXPECT_EQ(gathering.added(5us, 48, false, true), Then::Wait);
  EXPECT_EQ(gathering.added(6us, 62, true, true), Then::Flush);  // another row begins
  gathering.taken();
  gathering.flushed(7us);
  EXPECT_EQ(gathering.added(8us, 34, false, true), Then::Flush);
  gathering.taken();
  EXPECT_EQ(gathering.added(9us, 34, false, false), Then::Wake);  // to one that is not beside
}

}  // namespace
}  // namespace isthmus::core
