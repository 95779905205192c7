#include "lab/traffic_record.hpp"

#include <gtest/gtest.h>

namespace isthmus::lab {
namespace {

TEST(TrafficRecordTest, AddsUpMillisecondByMillisecond) {
  TrafficRecord record;
  record.sent(5 * kMillisecond, 100);
  record.sent(6 * kMillisecond - 1, 10);
  record.dropped(4 * kMillisecond, 3);  // bytes sent already are later
  record.dropped(7 * kMillisecond, 0);
  record.sent(9 * kMillisecond, 1);
  const auto all = record.since(0, 100);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at, 5);
  EXPECT_EQ(all[0].bytes, 110U);
  EXPECT_EQ(all[0].dropped, 3U);
  EXPECT_EQ(all[1].at, 9);
}

TEST(TrafficRecordTest, IsReadPieceByPiece) {
  TrafficRecord record;
  for (int i = 0; i < 10; ++i) record.sent(2 * i * kMillisecond, 1);
  const auto some = record.since(3, 2);
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].at, 4);
  EXPECT_EQ(some[1].at, 6);
  EXPECT_TRUE(record.since(19, 5).empty());
}

TEST(TrafficRecordTest, ForgetsWhatIsOld) {
  TrafficRecord record;
  const auto most = static_cast<std::int64_t>(TrafficRecord::kMost);
  for (std::int64_t i = 0; i < most + 5; ++i) record.sent(i * kMillisecond, 1);
  EXPECT_EQ(record.since(0, 1).front().at, 5);
  EXPECT_EQ(record.since(0, 2 * TrafficRecord::kMost).size(), TrafficRecord::kMost);
}

}  // namespace
}  // namespace isthmus::lab
