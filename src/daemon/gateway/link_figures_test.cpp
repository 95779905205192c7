#include "daemon/gateway/link_figures.hpp"

#include <gtest/gtest.h>

namespace isthmus::daemon {
namespace {

using namespace std::chrono_literals;

net::TcpFigures stream_of(std::uint64_t acked, std::chrono::microseconds rtt = {},
                          std::chrono::microseconds min_rtt = {}) {
  return {.rtt = rtt, .min_rtt = min_rtt, .acked = acked};
}

TEST(LinkFigures, RoundTripsAreTheLongestNowAndTheShortestEver) {
  LinkFigures link;
  link.take({{{1, stream_of(0, 30ms, 20ms)}, {2, stream_of(0, 50ms, 25ms)}}, 2}, 0.1);
  EXPECT_EQ(link.rtt(), 50ms);
  EXPECT_EQ(link.min_rtt(), 20ms);
  link.take({{{1, stream_of(0, 22ms, 21ms)}, {2, stream_of(0)}}, 2}, 0.1);
  EXPECT_EQ(link.rtt(), 22ms);
  EXPECT_EQ(link.min_rtt(), 20ms);
}

TEST(LinkFigures, TheBestRateIsOfOnePeriodAndStandsInForAnUnknownOne) {
  LinkFigures link;
  link.take({{{1, stream_of(1000)}}, 1}, 0.5);
  link.take({{{1, stream_of(1500)}, {2, stream_of(1000)}}, 2}, 0.5);
  link.take({{{1, stream_of(1600)}, {2, stream_of(1000)}}, 2}, 0.5);
  EXPECT_DOUBLE_EQ(link.best_rate(), 3000);
  EXPECT_DOUBLE_EQ(link.rate(), 3000);
  link.set_rate(5000);
  EXPECT_DOUBLE_EQ(link.rate(), 5000);
  EXPECT_DOUBLE_EQ(link.best_rate(), 3000);
}

TEST(LinkFigures, AStreamOfTheSameNumberMayBeginAtZeroAgain) {
  LinkFigures link;
  net::TcpFigures figures;
  figures.repeated = 700;
  link.take({{{1, figures}}, 1}, 0.1);
  link.forget_streams();
  figures.repeated = 30;
  link.take({{{1, figures}}, 1}, 0.1);
  EXPECT_EQ(link.repeated(), 730U);
}

TEST(LinkFigures, BuffersThatHoldStreamsBackAskForTwiceAsMany) {
  LinkFigures link;
  net::TcpFigures figures;
  figures.busy = 100ms;
  EXPECT_EQ(link.take({{{1, figures}}, 1}, 0.1), 1);
  figures.busy = figures.limited = 200ms;
  EXPECT_EQ(link.take({{{1, figures}}, 1}, 0.1), 2);
}

TEST(LinkFigures, StreamsThatBeginAnewAfterAPauseAreHeldReadyOnALongPath) {
  LinkFigures link;
  link.set_rate(125'000'000);
  LinkFigures::Now now{{{1, stream_of(0, 20ms, 20ms)}}, 1};
  now.ceiling = 4e6;
  EXPECT_EQ(link.take(now, 0.1), 1);
  now.begins_anew = true;
  EXPECT_EQ(link.take(now, 0.1), core::kMostHeld);
  now.streams[1].busy = now.streams[1].limited = 100ms;  // while its buffers grow
  now.have = core::kMostHeld;
  EXPECT_EQ(link.take(now, 0.1), core::kMostHeld);
}

}  // namespace
}  // namespace isthmus::daemon
