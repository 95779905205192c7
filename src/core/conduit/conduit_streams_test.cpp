#include "core/conduit/conduit_streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Stream = ConduitStreams::Stream;

// Looks each millisecond until then. Returns the streams that are silent at the end.
std::vector<StreamId> pass(ConduitStreams& streams, Time until) {
  std::vector<StreamId> silent;
  for (Time now = streams.now(); now <= until; now += 1ms) {
    streams.advance(now);
    silent = streams.silent();
  }
  return silent;
}

TEST(ConduitStreams, ASilentStreamIsPingedAndThenGivenUp) {
  ConduitStreams streams(10s, 1s, 0s);
  const StreamId silent = streams.up(0s);
  const StreamId loud = streams.up(0s);
  for (const StreamId id : {silent, loud}) {
    streams.find(id)->hello_sent = streams.find(id)->hello_received = true;
    streams.served(*streams.find(id));
  }
  EXPECT_FALSE(streams.some_owe());
  EXPECT_THAT(pass(streams, 500ms), IsEmpty());
  EXPECT_TRUE(streams.find(silent)->ping_due);
  EXPECT_TRUE(streams.some_owe());
  streams.heard(*streams.find(loud));
  EXPECT_THAT(pass(streams, 1s), ElementsAre(silent));
  EXPECT_TRUE(streams.down(silent));
  EXPECT_FALSE(streams.down(silent));
  EXPECT_EQ(streams.silence(1s), 500ms);
}

TEST(ConduitStreams, TimeInWhichTheProcessDidNotRunIsNoSilence) {
  ConduitStreams streams(8s, 1s, 0s);
  const StreamId id = streams.up(0s);
  EXPECT_EQ(streams.silence(1s), 1s);
  EXPECT_EQ(streams.silence(1h), 0s);
  streams.advance(1h);
  EXPECT_THAT(streams.silent(), IsEmpty());
  EXPECT_EQ(streams.find(id)->heard, 1h);
}

TEST(ConduitStreams, WithoutPatienceNothingIsDue) {
  ConduitStreams streams(0s, 1s, 0s);
  streams.up(0s);
  EXPECT_EQ(streams.deadline(), Time::max());
  streams.advance(1h);
  EXPECT_FALSE(streams.out_of_patience());
}

}  // namespace
}  // namespace isthmus::core
