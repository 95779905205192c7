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

TEST(ConduitStreams, StreamsThatAreIdleTogetherArePingedTogether) {
  ConduitStreams streams(10s, 1s, 0s);
  for (Time now = 0ms; now <= 240ms; now += 40ms) {
    streams.advance(now);
    Stream& stream = *streams.find(streams.up(now));
    stream.hello_sent = stream.hello_received = true;
    streams.served(stream);
  }
  streams.advance(300ms);
  Stream& busy = *streams.find(streams.up(300ms));
  busy.hello_sent = busy.hello_received = true;
  streams.served(busy);
  EXPECT_THAT(pass(streams, 499ms), IsEmpty());
  EXPECT_FALSE(streams.some_owe());
  EXPECT_THAT(pass(streams, 500ms), IsEmpty());
  for (StreamId id = 1; id <= 7; ++id) EXPECT_TRUE(streams.find(id)->ping_due) << id;
  EXPECT_FALSE(busy.ping_due);
}

TEST(ConduitStreams, OneEndPingsLater) {
  ConduitStreams streams(10s, 1s, 0s, true);
  Stream& stream = *streams.find(streams.up(0s));
  stream.hello_sent = stream.hello_received = true;
  streams.served(stream);
  EXPECT_THAT(pass(streams, 624ms), IsEmpty());
  EXPECT_FALSE(stream.ping_due);
  EXPECT_THAT(pass(streams, 625ms), IsEmpty());
  EXPECT_TRUE(stream.ping_due);
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
