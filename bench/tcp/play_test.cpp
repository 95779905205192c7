#include "tcp/play.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace isthmus::tcpbench {
namespace {

Pair accept_pair(const Listener& listener) {
  Connection talk = listener.accept(10, -1);
  return {std::move(talk), listener.accept(10, -1)};
}

Samples over_loopback(const std::string& text) {
  const Task task = parse_task(text);
  const Listener listener("127.0.0.1", "0");
  auto other = std::async(std::launch::async, [&] {
    const Pair pair = accept_pair(listener);
    play(task, pair, false);
  });
  const std::string port = std::to_string(listener.port());
  Connection talk = connect_to("127.0.0.1", port, 10);
  const Pair pair{std::move(talk), connect_to("127.0.0.1", port, 10)};
  Samples samples = play(task, pair, true);
  other.get();
  return samples;
}

TEST(Play, PingpongHasASampleForEachRound) {
  const Samples samples = over_loopback("pingpong:1000:7");
  ASSERT_EQ(samples.seconds.size(), 7U);
  for (const double seconds : samples.seconds) EXPECT_GT(seconds, 0);
}

class Flow : public testing::TestWithParam<const char*> {};

TEST_P(Flow, HasRoundsWithTheirMessages) {
  const Samples samples = over_loopback(GetParam());
  ASSERT_EQ(samples.seconds.size(), 3U);
  ASSERT_EQ(samples.messages.size(), 3U);
  for (const auto count : samples.messages) EXPECT_GE(count, 4U);
}

INSTANTIATE_TEST_SUITE_P(All, Flow,
                         testing::Values("stream:1048576:3:0.02", "bidirectional:1048576:3:0.02",
                                         "rate:8:3:0.01"));

TEST(Play, LoadedPingsUntilAllHasArrived) {
  EXPECT_FALSE(over_loopback("loaded:8:50000000").seconds.empty());
}

TEST(Connection, ClosedByTheOtherEndIsSaid) {
  const Listener listener("127.0.0.1", "0");
  const Connection one = connect_to("127.0.0.1", std::to_string(listener.port()), 10);
  { const Connection other = listener.accept(10, -1); }
  char byte = 0;
  EXPECT_THROW(one.receive(&byte, 1), std::runtime_error);
}

TEST(Connection, NobodyListens) {
  int port = 0;
  {
    const Listener listener("127.0.0.1", "0");
    port = listener.port();
  }
  EXPECT_THROW(connect_to("127.0.0.1", std::to_string(port), 10), std::runtime_error);
}

}  // namespace
}  // namespace isthmus::tcpbench
