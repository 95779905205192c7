#include "mpi/request/waiting.hpp"

#include <gtest/gtest.h>

namespace isthmus::face {
namespace {

using namespace std::chrono_literals;
using core::CoreSharing;

Naps::Time now_in_test{1s};

class WaitingTest : public testing::Test {
 protected:
  /// A step of 1 us in vain.
  Waiting::Rest step(const Waiting::Place& place, bool near = false) {
    waiting_.look(place, near);
    now_in_test += 1us;
    return waiting_.rest(place, near, false, false);
  }
  /// Steps in vain until the first nap.
  int steps_to_nap(const Waiting::Place& place, bool near = false) {
    int steps = 1;
    while (step(place, near).nap == 0us && steps < 100'000) ++steps;
    return steps;
  }
  void yielded(std::chrono::nanoseconds took) {
    const CoreSharing::Time before = now_in_test.time_since_epoch();
    now_in_test += took;
    sharing_.yielded(before, now_in_test.time_since_epoch());
  }

  CoreSharing sharing_;
  Waiting waiting_{sharing_, [] { return now_in_test; }};
};

constexpr Waiting::Place kHosts{.peers = 4};
constexpr Waiting::Place kOneHost{.peers = 1, .one_host = true};

TEST_F(WaitingTest, PollsFirstThenYieldsThenNaps) {
  const Waiting::Rest first = step(kHosts);
  EXPECT_EQ(first.polls, 1U);
  EXPECT_FALSE(first.yields);
  for (int i = 2; i < 16; ++i) step(kHosts);
  EXPECT_TRUE(step(kHosts).yields);
  EXPECT_EQ(steps_to_nap(kHosts), 64 - 16);
  EXPECT_TRUE(waiting_.long_since(kHosts));
}

TEST_F(WaitingTest, AnEventBeginsAnew) {
  steps_to_nap(kHosts);
  const Waiting::Rest rest = waiting_.rest(kHosts, false, true, false);
  EXPECT_EQ(rest.polls, 0U);
  EXPECT_EQ(rest.nap, 0us);
  EXPECT_FALSE(waiting_.long_since(kHosts));
  EXPECT_EQ(steps_to_nap(kHosts), 64);
}

TEST_F(WaitingTest, YieldsAtOnceWhereOthersWantTheCore) {
  yielded(5us);
  EXPECT_TRUE(step(kHosts).yields);
}

TEST_F(WaitingTest, NapsAtOnceWhereOthersCompute) {
  for (const Waiting::Place& place : {kHosts, kOneHost}) {
    yielded(4ms);
    const Waiting::Rest rest = step(place);
    EXPECT_EQ(rest.nap, Naps::kShortest);
    EXPECT_TRUE(rest.hurries);
    now_in_test += 200ms;  // then it tries a yield again
    waiting_.rest(place, false, true, false);
    EXPECT_EQ(step(place).nap, 0us);
  }
}

TEST_F(WaitingTest, ARankOfOneHostLooksForFiveMilliseconds) {
  EXPECT_GE(steps_to_nap(kOneHost), 5000);
}

TEST_F(WaitingTest, ARankThatLeadsItsSessionDoesNot) {
  Waiting::Place mpich = kOneHost;
  mpich.leads_session = true;
  EXPECT_EQ(steps_to_nap(mpich), 64);
}

TEST_F(WaitingTest, MorePeersArePolledLessOften) {
  const auto polls = [this](int peers) { return step({.peers = peers, .one_host = true}).polls; };
  EXPECT_EQ(polls(1), 16U);
  EXPECT_EQ(polls(3), 7U);
  EXPECT_EQ(polls(100), 1U);
}

TEST_F(WaitingTest, MemoryOfThisHostComesFirst) {
  int looks = 0;
  while (waiting_.look(kOneHost, true).near) ++looks;
  EXPECT_EQ(looks, 32);
}

TEST_F(WaitingTest, SuchALookYieldsOnACrowdedHostUnlessOthersCompute) {
  Waiting::Place crowded = kOneHost;
  crowded.crowded = true;
  EXPECT_TRUE(waiting_.look(crowded, true).yields);
  yielded(4ms);
  EXPECT_FALSE(waiting_.look(crowded, true).yields);
}

TEST_F(WaitingTest, OnACrowdedHostWithSessionsThePeerWakesIt) {
  const Waiting::Rest rest = step({.one_host = true, .crowded = true, .leads_session = true}, true);
  EXPECT_EQ(rest.nap, Naps::kShortest);
  EXPECT_TRUE(rest.for_near);
}

TEST_F(WaitingTest, EachStepNapsWhileALongCollectiveStreams) {
  EXPECT_EQ(waiting_.rest(kHosts, false, false, true).nap, 100us);
  EXPECT_EQ(waiting_.rest(kHosts, false, true, true).nap, 100us);
}

TEST_F(WaitingTest, TheNativeLibraryHasEveryFourthLookAndLaterEachOne) {
  int native = 0;
  for (int i = 0; i < 16; ++i) native += waiting_.look(kHosts, false).native ? 1 : 0;
  EXPECT_EQ(native, 4);
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(waiting_.look(kHosts, false).native);
}

TEST_F(WaitingTest, TheReasonIsToldOnce) {
  int told = 0;
  for (int i = 0; i < 200; ++i) told += waiting_.look(kHosts, false).tells ? 1 : 0;
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace isthmus::face
