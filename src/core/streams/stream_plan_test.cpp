#include "core/streams/stream_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using enum StreamPlan::Role;

constexpr int kAnyNumber = kMostStreams;

// A path of 50 ms.
class StreamPlanTest : public testing::Test, protected StreamPlan::Look {
 protected:
  void connect(std::size_t count, StreamPlan::Time round_trip = 50ms) {
    for (std::size_t i = 0; i < count; ++i) plan_.up(round_trip, round_trip >= 2ms);
    windows_.resize(plan_.streams(), 1e6);
    rooms_.resize(plan_.streams(), 14'480);
  }
  /// Two periods that send at `rate` bytes a second, with a choice at the end of each.
  void send(double rate) {
    for (int period = 0; period < 2; ++period) {
      now_ += 250ms;
      sent_ += static_cast<std::uint64_t>(rate / 4);
      plan_.choose(now_, sent_, kAnyNumber, *this);
    }
  }
  std::vector<StreamPlan::Role> roles() const {
    std::vector<StreamPlan::Role> found;
    for (std::size_t i = 0; i < plan_.streams(); ++i) found.push_back(plan_.role(i));
    return found;
  }
  double window(std::size_t stream) const override { return windows_[stream]; }
  std::int64_t room(std::size_t stream) const override { return rooms_[stream]; }

  StreamPlan plan_;
  StreamPlan::Time now_{1h};
  std::uint64_t sent_ = 0;
  std::vector<double> windows_;
  std::vector<std::int64_t> rooms_;
};

TEST_F(StreamPlanTest, AFewStreamsAllTakeBulk) {
  connect(3);
  EXPECT_THAT(roles(), Each(Bulk));
}

TEST_F(StreamPlanTest, OfFourOverALongPathTheFirstIsForSmallFrames) {
  connect(4);
  EXPECT_THAT(roles(), ElementsAre(Express, Bulk, Bulk, Bulk));
  EXPECT_TRUE(plan_.off_bulk(0, 0));
}

TEST_F(StreamPlanTest, SmallFramesStayOnAStreamWithRoom) {
  connect(3);
  EXPECT_EQ(plan_.for_small(1, *this), 1U);
  EXPECT_EQ(plan_.for_small(7, *this), 0U);
  rooms_[0] = 1'448;
  rooms_[2] = 90'000;
  EXPECT_EQ(plan_.for_small(0, *this), 0U);
}

TEST_F(StreamPlanTest, SmallFramesLeaveAFullStream) {
  connect(3);
  rooms_ = {0, 1'448, 14'480};
  EXPECT_EQ(plan_.for_small(0, *this), 2U);
  rooms_ = {-170, 0, -340};
  EXPECT_EQ(plan_.for_small(0, *this), 1U);
  rooms_ = {0, 0, 0};  // none is TCP
  EXPECT_EQ(plan_.for_small(2, *this), 2U);
}

TEST_F(StreamPlanTest, SmallFramesGoByTheirOwnStreamUntilItIsFull) {
  connect(4);
  EXPECT_EQ(plan_.for_small(2, *this), 0U);
  rooms_[0] = 0;
  EXPECT_EQ(plan_.for_small(0, *this), 1U);
}

TEST_F(StreamPlanTest, NoneIsOverAShortPath) {
  connect(4, 1ms);
  EXPECT_THAT(roles(), Each(Bulk));
}

TEST_F(StreamPlanTest, TheWidestStreamsTakeMuch) {
  connect(8);
  windows_.assign(8, 50e6);
  send(400e6);
  EXPECT_EQ(std::ranges::count(roles(), Spare), 3);
  EXPECT_EQ(plan_.role(0), Express);
}

TEST_F(StreamPlanTest, OneBesideMuchWiderOnesIsNarrow) {
  connect(3);
  windows_ = {0.1e6, 20e6, 6e6};
  send(400e6);
  EXPECT_THAT(roles(), ElementsAre(Narrow, Bulk, Bulk));
  EXPECT_TRUE(plan_.windows_differ(now_));
  EXPECT_FALSE(plan_.off_bulk(0, 1)) << "it takes what its window has room for";
}

TEST_F(StreamPlanTest, ASpareStreamRepeatsWhenNothingNewWaits) {
  connect(8);
  windows_.assign(8, 50e6);
  send(400e6);
  EXPECT_EQ(plan_.role(7), Spare);
  EXPECT_TRUE(plan_.off_bulk(7, 1));
  EXPECT_FALSE(plan_.off_bulk(7, 0));
}

TEST_F(StreamPlanTest, InACrowdTheFirstTakeBulk) {
  connect(6);
  EXPECT_TRUE(plan_.choose(now_, 0, 2, *this));
  EXPECT_THAT(roles(), ElementsAre(Express, Bulk, Bulk, Spare, Spare, Spare));
  EXPECT_FALSE(plan_.choose(now_, 0, 2, *this)) << "nothing has changed";
}

TEST_F(StreamPlanTest, AllTakeBulkAgainAfterACrowd) {
  connect(6);
  plan_.choose(now_, 0, 1, *this);
  EXPECT_TRUE(plan_.choose(now_, 0, kAnyNumber, *this));
  EXPECT_EQ(std::ranges::count(roles(), Spare), 0);
}

TEST_F(StreamPlanTest, AllTakeBulkWhenOneEnds) {
  connect(6);
  plan_.choose(now_, 0, 1, *this);
  plan_.down();
  EXPECT_THAT(roles(), ElementsAre(Express, Bulk, Bulk, Bulk, Bulk));
  EXPECT_EQ(plan_.role(5), Spare) << "the one that has ended";
}

TEST_F(StreamPlanTest, ALoneTakerTakesMoreAtATime) {
  connect(6);
  EXPECT_EQ(plan_.turn(), StreamPlan::kTurn);
  plan_.choose(now_, 0, 1, *this);
  EXPECT_EQ(plan_.turn(), StreamPlan::kAlone);
  EXPECT_EQ(plan_.part(0), StreamPlan::kAlone);
}

TEST_F(StreamPlanTest, TurnsGrowWithTheBytesUnderWay) {
  connect(6);
  windows_.assign(6, 4e6);
  send(400e6);
  EXPECT_GT(plan_.turn(), StreamPlan::kTurn);
  plan_.windows_differ(now_);  // the first bulk after a pause: windows grow again
  EXPECT_EQ(plan_.turn(), StreamPlan::kTurn);
  plan_.idle();
  EXPECT_GT(plan_.turn(), StreamPlan::kTurn);
}

TEST_F(StreamPlanTest, APartIsAQuarterOfTheRoom) {
  connect(6);
  windows_.assign(6, 4e6);
  send(400e6);
  const auto most = plan_.turn();
  EXPECT_EQ(plan_.part(0), StreamPlan::kTurn);
  EXPECT_EQ(plan_.part(-5), StreamPlan::kTurn);
  EXPECT_EQ(plan_.part(4 * 10'000), 10'000U);
  EXPECT_EQ(plan_.part(std::int64_t{1} << 40), most);
}

TEST_F(StreamPlanTest, TakersShareTheBytesThatStayUnsent) {
  connect(1);
  EXPECT_EQ(plan_.unsent(), StreamPlan::kUnsent);
  connect(7);
  EXPECT_EQ(plan_.unsent(), StreamPlan::kUnsent / 8);
  plan_.choose(now_, 0, 1, *this);
  EXPECT_EQ(plan_.unsent(), StreamPlan::kUnsent / 2) << "one takes bulk, another small frames";
  connect(56);
  plan_.choose(now_, 0, kAnyNumber, *this);
  EXPECT_EQ(plan_.unsent(), StreamPlan::kLeastUnsent);
}

TEST_F(StreamPlanTest, WindowsDifferForSomeRoundTripsAfterAPause) {
  connect(6);
  EXPECT_TRUE(plan_.windows_differ(now_));
  for (int i = 0; i < 20; ++i) plan_.windows_differ(now_ += 40ms);
  EXPECT_FALSE(plan_.windows_differ(now_));
  EXPECT_TRUE(plan_.windows_differ(now_ + 60ms)) << "a round trip of silence";
}

TEST_F(StreamPlanTest, TheShortestRoundTripCounts) {
  connect(1, 60ms);
  connect(1, 50ms);
  connect(1, 90ms);
  EXPECT_EQ(plan_.round_trip(), 50ms);
}

}  // namespace
}  // namespace isthmus::core
