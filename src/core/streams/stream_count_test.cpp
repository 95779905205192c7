#include "core/streams/stream_count.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

TEST(StreamsFor, FillThePipeWithWhatOneStreamMayHaveUnderWay) {
  EXPECT_EQ(streams_for(125e6, 11.6e-3, 16e6), 1);
  EXPECT_EQ(streams_for(125e6, 11.6e-3, 104e3), 14);
  EXPECT_EQ(streams_for(1250e6, 0.05, 104e3), kMostStreams);
  EXPECT_EQ(streams_for(0, 0.05, 104e3), 1);
}

TEST(StreamsHeld, FillThePipeWithWhatOneStreamBeginsWith) {
  EXPECT_EQ(streams_held(12.5e6, 11.6e-3), 11);
  EXPECT_EQ(streams_held(125e6, 11.6e-3), kMostHeld);
  EXPECT_EQ(streams_held(125e6, 11.6e-3, 4), 4);
  EXPECT_EQ(streams_held(125e6, 0.2e-3), 1);  // too near to matter
  EXPECT_EQ(streams_held(0, 0.05), 1);
}

TEST(StreamsHeld, OfManyPairsEachHoldsLess) {
  EXPECT_EQ(streams_held_each(125e6, 11.6e-3, 1), kMostHeld);
  EXPECT_EQ(streams_held_each(125e6, 11.6e-3, 4), kMostHeld);
  EXPECT_EQ(streams_held_each(125e6, 11.6e-3, 16), 13);
  EXPECT_EQ(streams_held_each(125e6, 20e-3, 64), 6);
  EXPECT_EQ(streams_held_each(12.5e6, 11.6e-3, 1), 11) << "as many as one alone";
  EXPECT_EQ(streams_held_each(125e6, 11.6e-3, 1'000'000), 2) << "for what one loses";
  EXPECT_EQ(streams_held_each(125e6, 0.2e-3, 4), 1);  // too near to matter
}

TEST(TurnFor, IsAQuarterOfWhatAStreamHasUnderWay) {
  EXPECT_EQ(turn_for(125e6, 11.6e-3, 48), kLeastTurn);
  EXPECT_EQ(turn_for(480e6, 0.05, 48), 125'000U);
  EXPECT_EQ(turn_for(1250e6, 0.05, 48), kMostTurn);
  EXPECT_EQ(turn_for(1250e6, 0.2e-3, 4), kLeastTurn);  // too near to have much under way
  EXPECT_EQ(turn_for(0, 0.05, 48), kLeastTurn);
}

LinkPeriod busy(double delivered) {
  return {.seconds = 0.1, .busy = 0.1, .sent = delivered, .delivered = delivered};
}

TEST(StreamCount, StaysWhereNothingHoldsTheStreamsBack) {
  StreamCount count;
  EXPECT_EQ(count.next(1, busy(1e7)), 1);
  EXPECT_EQ(count.next(4, {}), 4);
}

TEST(StreamCount, GrowsWhileBuffersHoldThemBack) {
  StreamCount count;
  LinkPeriod period = busy(1e6);
  period.limited = 0.09;
  int streams = 1;
  for (int i = 0; i < 10; ++i) streams = count.next(streams, period);
  EXPECT_EQ(streams, kMostStreams);
}

TEST(StreamCount, AShortBurstSaysNothing) {
  StreamCount count;
  EXPECT_EQ(count.next(1, {.seconds = 0.1, .busy = 0.01, .limited = 0.01}), 1);
}

TEST(StreamCount, GrowsWithLossesAsLongAsThatHelps) {
  StreamCount count;
  LinkPeriod period = busy(1e6);
  period.repeated = 1e3;
  const auto after_a_while = [&](int now) {
    int streams = now;
    for (int i = 0; i < 6 && streams == now; ++i) streams = count.next(now, period);
    return streams;
  };
  EXPECT_EQ(count.next(1, period), 1);  // one period is not enough
  EXPECT_EQ(after_a_while(1), 2);
  period.delivered = 2e6;
  EXPECT_EQ(after_a_while(2), 4);
  EXPECT_EQ(after_a_while(4), 4);  // no faster than with two
  period.delivered = 9e6;
  EXPECT_EQ(after_a_while(4), 4);  // for good
}

}  // namespace
}  // namespace isthmus::core
