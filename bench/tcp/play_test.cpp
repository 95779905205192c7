#include "tcp/play.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace isthmus::tcpbench {
namespace {

constexpr const char* kToken = "a token that both have";

enum class Way { Plain, Tls };

Pair encrypted(Pair pair, bool server) {
  pair.talk.encrypt(server, kToken);
  pair.bulk.encrypt(server, kToken);
  return pair;
}

Pair accept_pair(const Listener& listener) {
  Connection talk = listener.accept(10, -1);
  return {std::move(talk), listener.accept(10, -1)};
}

Samples over_loopback(const std::string& text, Way way = Way::Plain) {
  const Task task = parse_task(text);
  const Listener listener("127.0.0.1", "0");
  auto other = std::async(std::launch::async, [&] {
    Pair pair = accept_pair(listener);
    if (way == Way::Tls) pair = encrypted(std::move(pair), true);
    play(task, pair, false);
  });
  const std::string port = std::to_string(listener.port());
  Connection talk = connect_to("127.0.0.1", port, 10);
  Pair pair{std::move(talk), connect_to("127.0.0.1", port, 10)};
  if (way == Way::Tls) pair = encrypted(std::move(pair), false);
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

TEST(Tls, CarriesEveryFigureButBothWaysAtOnce) {
  EXPECT_EQ(over_loopback("pingpong:100000:7", Way::Tls).seconds.size(), 7U);
  EXPECT_EQ(over_loopback("stream:1048576:3:0.02", Way::Tls).seconds.size(), 3U);
  EXPECT_EQ(over_loopback("rate:8:3:0.01", Way::Tls).seconds.size(), 3U);
  EXPECT_FALSE(over_loopback("loaded:8:5000000", Way::Tls).seconds.empty());
  EXPECT_THROW(over_loopback("bidirectional:1048576:3:0.02", Way::Tls), std::runtime_error);
}

TEST(Tls, AnotherTokenIsRefused) {
  const Listener listener("127.0.0.1", "0");
  auto other = std::async(std::launch::async, [&] {
    Connection server = listener.accept(10, -1);
    EXPECT_THROW(server.encrypt(true, kToken), std::runtime_error);
  });
  Connection client = connect_to("127.0.0.1", std::to_string(listener.port()), 10);
  EXPECT_THROW(client.encrypt(false, "another one"), std::runtime_error);
  other.get();
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
