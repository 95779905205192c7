#include "core/streams/bulk_streams.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRoundTrip{50}, kBegin{1000}, kPeriod{250};

using Windows = std::vector<double>;
using Parts = std::vector<BulkStreams::Part>;
using enum BulkStreams::Part;

class BulkStreamsTest : public testing::Test {
 protected:
  BulkStreamsTest() {
    streams_.set_round_trip(kRoundTrip);
    EXPECT_TRUE(streams_.due(kBegin, 0));
  }
  /// A period that sends `rate` bytes a second.
  void send(double rate) {
    EXPECT_TRUE(streams_.due(kBegin + kPeriod, static_cast<std::uint64_t>(rate / 4)));
  }
  BulkStreams streams_;
};

TEST_F(BulkStreamsTest, TheRateIsOfThePeriod) {
  EXPECT_FALSE(streams_.due(kBegin + kPeriod / 2, 100'000'000));
  send(400e6);
  EXPECT_DOUBLE_EQ(streams_.rate(), 400e6);
}

TEST_F(BulkStreamsTest, TheWidestTakeBulkUntilTwiceWhatIsUnderWayHasRoom) {
  send(400e6);  // 20 MB under way
  const Windows windows{3e6, 15e6, 14e6, 8e6, 13e6, 12e6};
  EXPECT_EQ(streams_.choose(windows), (Parts{None, All, All, None, All, All}));
}

TEST_F(BulkStreamsTest, NoFewerThanFour) {
  send(10e6);
  EXPECT_EQ(streams_.choose(Windows(6, 50e6)), (Parts{All, All, All, All, None, None}));
}

TEST_F(BulkStreamsTest, NarrowOnesAreLeftOutWhereOneIsWideEnough) {
  send(400e6);
  EXPECT_EQ(streams_.choose(Windows{0.1e6, 95e6, 0.2e6}), (Parts{None, All, None}));
}

TEST_F(BulkStreamsTest, NarrowOnesTakeWhatTheirWindowsHoldWhereAllAreNeeded) {
  send(400e6);
  EXPECT_EQ(streams_.choose(Windows{0.1e6, 20e6, 6e6}), (Parts{Narrow, All, All}));
}

TEST_F(BulkStreamsTest, LikeOnesAreAllNeeded) {
  send(125e6);  // 6 MB under way
  EXPECT_EQ(streams_.choose(Windows(8, 0.5e6)), Parts(8, All));
  EXPECT_TRUE(streams_.choose(Windows{}).empty());
}

TEST_F(BulkStreamsTest, OfAPauseTheRateIsUnknown) {
  EXPECT_TRUE(streams_.due(kBegin + 4 * kPeriod, 400'000'000));
  EXPECT_EQ(streams_.rate(), 0);
}

TEST_F(BulkStreamsTest, AfterAPauseTheRateIsAsBeforeAndWindowsAreNarrow) {
  send(400e6);
  EXPECT_TRUE(streams_.due(kBegin + 9 * kPeriod, 100'000'001));
  EXPECT_DOUBLE_EQ(streams_.rate(), 400e6);
  EXPECT_EQ(streams_.choose(Windows(12, 14'480.0)), Parts(12, All));
}

}  // namespace
}  // namespace isthmus::core
