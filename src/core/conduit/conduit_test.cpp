#include "core/conduit/conduit.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/conduit/conduit_testbed.hpp"

namespace isthmus::core {
namespace {

// Frames of many sizes in both directions while streams are cut and made again.
void run(std::uint64_t seed, std::size_t& placed) {
  std::mt19937_64 random(seed);
  Wan::Setup setup;
  setup.streams = 1 + static_cast<int>(seed % 4);
  setup.cut = seed % 3 == 0 ? 0 : 0.01 * static_cast<double>(seed % 5);
  setup.slow = seed % 2 == 0 ? 0 : 0.5;
  setup.custody = seed % 5 < 2;
  setup.landing = seed % 7 < 3 ? 0 : 0.3;
  setup.chunk = std::size_t{64} << (setup.cut > 0 ? 6 + seed % 5 : seed % 9);
  auto a = config(kA, kB);
  auto b = config(kB, kA);
  a.buffer = b.buffer = 20'000 + seed % 100'000;
  a.window = b.window = kMaxBody + kHeaderSize + seed % 50'000;
  Wan wan(seed, setup, a, b);
  const std::size_t total = 60;
  for (int step = 0; step < 100'000; ++step) {
    for (int end = 0; end < 2; ++end) {
      Conduit& c = wan.conduit(end);
      if (wan.submitted(end) < total && c.can_accept() && wan.chance(0.5)) {
        wan.submit(end, wan.chance(0.8) ? wan.below(200) : wan.below(8000));
      }
      // One frame may stand beyond the limit, never more.
      ASSERT_LE(c.buffered(), c.config().buffer + kHeaderSize + 8 + 8000);
    }
    wan.step();
    if (wan.submitted(0) == total && wan.submitted(1) == total && wan.settled()) {
      placed += wan.placed();
      return;
    }
    ASSERT_EQ(wan.conduit(0).dead(), "");
    ASSERT_EQ(wan.conduit(1).dead(), "");
  }
  FAIL() << "seed " << seed << ": " << wan.seen(0) << " and " << wan.seen(1) << " arrived";
}

class Weather : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Weather, EveryFrameIsDeliveredOnceWhateverHappensToStreams) {
  std::size_t placed = 0;
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 200; ++seed) {
    run(seed, placed);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(placed, 0U) << "every frame came whole";
}
INSTANTIATE_TEST_SUITE_P(Seeds, Weather, testing::Range<std::uint64_t>(0, 2000, 200));

TEST(Conduit, RepeatsOnlyWhatWasNotAcknowledged) {
  Wan wan(1, {}, config(kA, kB), config(kB, kA));
  for (int i = 0; i < 100; ++i) wan.submit(0, 100);
  while (!wan.settled()) wan.step();
  EXPECT_EQ(wan.conduit(0).counts().repeated, 0U);
  wan.cut_all();
  for (int i = 0; i < 10; ++i) wan.submit(0, 100);
  while (!wan.settled()) wan.step();
  EXPECT_EQ(wan.seen(1), 110U);
  EXPECT_LE(wan.conduit(0).counts().repeated, 10U);
  EXPECT_EQ(wan.conduit(0).counts().frames, 110U);
}

TEST(Conduit, AReceiverThatConsumesNothingHoldsTheSenderAtItsWindow) {
  Wan::Setup setup;
  setup.slow = 1;
  auto a = config(kA, kB);
  auto b = config(kB, kA);
  b.window = 200'000;
  Wan wan(3, setup, a, b);
  while (!wan.conduit(0).connected()) wan.step();
  // The test's receiver consumes at random, so ask the sender alone.
  for (int i = 0; i < 100; ++i) wan.submit(0, 8000);
  std::vector<PacketPtr> packets;
  wan.conduit(0).output(1, wan.now(), 1U << 30, packets);
  std::size_t bytes = 0;
  for (const auto& packet : packets) bytes += packet->size;
  // Bulk leaves an eighth of the window, which small frames may use until it is bulk's turn.
  EXPECT_LE(bytes, 175'000U + 100);
  EXPECT_GT(bytes, 165'000U);
  EXPECT_FALSE(wan.conduit(0).has_output(1));
  for (int i = 0; i < 100; ++i) wan.submit(0, 1000);
  packets.clear();
  wan.conduit(0).output(1, wan.now(), 1U << 30, packets);
  EXPECT_GE(packets.size(), 16U);
  for (const auto& packet : packets) bytes += packet->size;
  EXPECT_LE(bytes, 200'000U + 100);
}

TEST(Conduit, SmallFramesOvertakeLargeOnesButDoNotStarveThem) {
  Wan wan(1, {}, config(kA, kB), config(kB, kA));
  while (!wan.conduit(0).connected()) wan.step();
  wan.submit(0, 50'000);
  for (int i = 0; i < 40; ++i) wan.submit(0, 10);
  std::vector<PacketPtr> packets;
  wan.conduit(0).output(1, wan.now(), 1U << 30, packets);
  std::size_t place = 0;
  while (packets[place]->size < 50'000) ++place;
  EXPECT_GT(place, 4U);
  EXPECT_LT(place, 20U);
}

TEST(Conduit, ASmallFrameOvertakesALargeOneHoweverManyWentBeforeAlone) {
  Wan wan(1, {}, config(kA, kB), config(kB, kA));
  while (!wan.conduit(0).connected()) wan.step();
  for (int i = 0; i < 40; ++i) wan.submit(0, 10);
  std::vector<PacketPtr> packets;
  wan.conduit(0).output(1, wan.now(), 1U << 30, packets);
  packets.clear();
  wan.submit(0, 50'000);
  wan.submit(0, 10);
  wan.conduit(0).output(1, wan.now(), 1U << 30, packets);
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_LT(packets[0]->size, 50'000U);
}

TEST(Conduit, ByeArrivesAfterEverythingElse) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Wan::Setup setup;
    setup.streams = 3;
    setup.cut = 0.02;
    Wan wan(seed, setup, config(kA, kB), config(kB, kA));
    for (int i = 0; i < 30; ++i) wan.submit(0, wan.below(4000));
    wan.conduit(0).bye();
    wan.conduit(0).submit({});  // ignored
    for (int i = 0; i < 20'000 && !wan.settled(); ++i) {
      wan.step();
      if (wan.conduit(1).peer_ended()) {
        ASSERT_EQ(wan.seen(1), 30U);
      }
    }
    ASSERT_TRUE(wan.conduit(1).peer_ended()) << "seed " << seed;
    ASSERT_TRUE(wan.conduit(0).flushed());
    ASSERT_FALSE(wan.conduit(0).peer_ended());
  }
}

TEST(Conduit, PingsKeepAnIdleConduitAlive) {
  Wan wan(1, {}, config(kA, kB), config(kB, kA));
  while (wan.now() < 60s) wan.step();
  EXPECT_EQ(wan.conduit(0).dead(), "");
  EXPECT_EQ(wan.conduit(1).dead(), "");
  EXPECT_TRUE(wan.conduit(0).connected());
}

TEST(Conduit, DiesOfALostLinkAfterItsPatience) {
  auto a = config(kA, kB), b = config(kB, kA);
  a.patience = 20s;
  Wan wan(1, {}, a, b);
  while (!wan.conduit(0).connected() || !wan.conduit(1).connected()) wan.step();
  const Time lost = wan.now();
  wan.never_reconnect();
  wan.cut_all();
  while (wan.conduit(0).dead().empty()) wan.step();
  EXPECT_GE(wan.now() - lost, 17s);  // a ping's time may have passed before
  EXPECT_LE(wan.now() - lost, 20100ms);
  EXPECT_EQ(wan.conduit(0).dead(), "has not been heard for 20 s (patience)");
  EXPECT_EQ(wan.conduit(1).dead(), "");  // its patience is in minutes
}

TEST(Conduit, DiesOfAMutePeerAfterItsPatience) {
  auto a = config(kA, kB), b = config(kB, kA);
  a.patience = b.patience = 20s;
  Wan wan(1, {}, a, b);
  while (!wan.conduit(0).connected() || !wan.conduit(1).connected()) wan.step();
  const Time lost = wan.now();
  wan.mute();
  while (wan.conduit(0).dead().empty()) wan.step();
  EXPECT_LE(wan.now() - lost, 21s);
}

TEST(Conduit, ASilentStreamIsGivenUpLongBeforeTheConduit) {
  auto a = config(kA, kB), b = config(kB, kA);
  a.patience = b.patience = 60s;
  Wan wan(1, {}, a, b);
  while (!wan.conduit(0).connected() || !wan.conduit(1).connected()) wan.step();
  const Time lost = wan.now();
  wan.never_reconnect();
  wan.mute();
  while (wan.conduit(0).streams() > 0) wan.step();
  EXPECT_LE(wan.now() - lost, 6s);
  EXPECT_GE(wan.conduit(0).silence(wan.now()), 4s);
  EXPECT_EQ(wan.conduit(0).dead(), "");
}

TEST(Conduit, AnOutageThatIsShorterThanThePatienceLosesNothing) {
  auto a = config(kA, kB), b = config(kB, kA);
  a.patience = b.patience = 60s;
  Wan wan(1, {}, a, b);
  for (int i = 0; i < 100; ++i) wan.submit(i % 2, 5000);
  while (wan.seen(0) < 10) wan.step();
  const Time lost = wan.now();
  wan.mute();
  while (wan.now() - lost < 50s) wan.step();
  EXPECT_GT(wan.conduit(0).silence(wan.now()), 40s);
  wan.unmute();
  while (!wan.settled() && wan.now() - lost < 100s) wan.step();
  EXPECT_TRUE(wan.settled());
  EXPECT_LT(wan.conduit(0).silence(wan.now()), 10s);
}

// A stopped process, a host asleep: its clock jumps, and then the peer has its whole patience.
TEST(Conduit, TimeInWhichTheProcessDidNotRunIsNoSilence) {
  auto a = config(kA, kB), b = config(kB, kA);
  a.patience = b.patience = 20s;
  Wan wan(1, {}, a, b);
  while (!wan.conduit(0).connected() || !wan.conduit(1).connected()) wan.step();
  wan.mute();
  const Time lost = wan.now();
  while (wan.now() - lost < 15s) wan.step();
  EXPECT_EQ(wan.conduit(0).silence(wan.now() + 3600s), 0s) << "a gateway may ask before it ticks";
  wan.pause(3600s);
  EXPECT_EQ(wan.conduit(0).dead(), "");
  const Time resumed = wan.now();
  while (wan.now() - resumed < 19s) wan.step();
  EXPECT_EQ(wan.conduit(0).dead(), "");
  while (wan.conduit(0).dead().empty()) wan.step();
  EXPECT_LE(wan.now() - resumed, 21s);
}

}  // namespace
}  // namespace isthmus::core
