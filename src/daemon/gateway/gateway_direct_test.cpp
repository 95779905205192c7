// Processes that reach each other without gateways, beside those that don't.
#include <future>
#include <thread>

#include "daemon/gateway/gateway_flood.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::size_t kDirectSizes[] = {0, 1, 1000, 65'537, 1U << 20, 5'000'000};

std::uint64_t crossed(const std::vector<LinkCount>& counts) {
  std::uint64_t bytes = 0;
  for (const LinkCount& count : counts) bytes += count.bytes;
  return bytes;
}

class DirectPaths : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(DirectPaths, CarryWhatTheGatewaysDoNot) {
  const auto [encrypt, streams] = GetParam();
  core::Direct link{0, 1, encrypt};
  link.streams = streams;
  Testbed bed({.sizes = {2, 2}, .direct = {link}});
  bed.start();
  const auto by_gateways = [&] { return crossed(bed.counts(0)) + crossed(bed.counts(1)); };
  // The first messages may go by the gateways, until all conduits stand.
  std::uint64_t before = 0;
  const auto limit = std::chrono::steady_clock::now() + 30s;
  do {
    before = by_gateways();
    for (const int a : {0, 1}) {
      for (const int b : {2, 3}) {
        bed.exchange(a, b, 1);
        bed.exchange(b, a, 1);
      }
    }
    std::this_thread::sleep_for(1ms);
  } while (by_gateways() != before && std::chrono::steady_clock::now() < limit);
  for (const std::size_t size : kDirectSizes) {
    for (const int a : {0, 1}) {
      bed.exchange(a, 2, size);
      bed.exchange(3, a, size);
    }
  }
  EXPECT_EQ(by_gateways(), before);
  bed.leave_well();
}

INSTANTIATE_TEST_SUITE_P(All, DirectPaths,
                         testing::Values(std::tuple(false, 1), std::tuple(true, 1),
                                         std::tuple(true, 4)));

// Asked while they run, and once more when they leave: nothing counts twice.
TEST(Direct, ProcessesTellTheirGatewayWhatGoesPastIt) {
  constexpr std::size_t kSize = 1'000'000;
  Testbed bed({.sizes = {1, 1}, .direct = {{0, 1, false}}});
  bed.start();
  const auto told = [&](std::size_t from, std::size_t to) {
    return bed.crossed(from)[{from, to}].bytes;
  };
  std::uint64_t sent = 0;
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (told(0, 1) < 3 * kSize && std::chrono::steady_clock::now() < limit) {
    bed.exchange(0, 1, kSize);
    sent += kSize;
  }
  EXPECT_GE(told(0, 1), 3 * kSize);
  EXPECT_EQ(told(1, 0), 0U);
  EXPECT_TRUE(bed.crossed_of_left(0).empty());
  bed.leave_all();
  while (bed.crossed_of_left(0).empty() && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(1ms);
  }
  const std::uint64_t direct = bed.crossed_of_left(0)[{0, 1}].bytes;
  EXPECT_EQ(direct + bed.counts(0).at(0).bytes, sent);
  const std::uint64_t all = bed.crossed(0)[{0, 1}].bytes;
  EXPECT_EQ(direct, all);
}

// Two conduits that send at once take as long as one that sends as much. Earlier starts and pauses
// change nothing, and the conduits of one process share one rate.
TEST(Direct, TheRateIsOfAllConduitsThatSendAtOnce) {
  core::Direct link{0, 1, false};
  link.rate = 20e6;
  link.streams = 1;
  Testbed bed({.sizes = {2, 2}, .direct = {link}});
  bed.start();
  const auto by_gateways = [&] { return crossed(bed.counts(0)); };
  std::uint64_t before = 0;
  do {
    before = by_gateways();
    for (const int a : {0, 1}) {
      for (const int b : {2, 3}) bed.exchange(a, b, 1);
    }
  } while (by_gateways() != before);
  const auto seconds = [&](const std::vector<std::pair<int, int>>& pairs, std::size_t size) {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (const auto& [from, to] : pairs) {
      threads.emplace_back(
          [&, from = from, to = to] { bed.exchange(from, to, size, 10 * from + to); });
    }
    for (auto& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  constexpr std::size_t kAll = 8'000'000;
  const double least = 0.9 * kAll / link.rate;
  EXPECT_GT(seconds({{0, 2}}, kAll), least);
  EXPECT_GT(seconds({{0, 2}, {0, 3}}, kAll / 2), least);
  EXPECT_GT(seconds({{0, 2}, {1, 3}}, kAll / 2), least);
  std::this_thread::sleep_for(100ms);
  EXPECT_GT(seconds({{0, 2}, {1, 3}, {0, 3}, {1, 2}}, kAll / 4), least);
  bed.leave_well();
}

// As a process does whose conduits stall: the gateways carry what is left.
TEST(Direct, ConduitsThatAreLostFallBackToTheGateways) {
  Testbed bed({.sizes = {1, 1}, .direct = {{0, 1, false}}});
  bed.start();
  const auto by_gateways = [&] { return crossed(bed.counts(0)) + crossed(bed.counts(1)); };
  std::uint64_t before = 0;
  do {
    before = by_gateways();
    bed.exchange(0, 1, 1'000'000);
  } while (by_gateways() != before);
  std::thread cutter([&] { bed.rank(1).drop_direct(); });
  for (int i = 0; i < 3; ++i) flood(bed, 1);
  cutter.join();
  EXPECT_GT(by_gateways(), before);
  before = by_gateways();
  bed.exchange(0, 1, 1'000'000);
  bed.exchange(1, 0, 1'000'000);
  EXPECT_GE(by_gateways(), before + 2'000'000);
  bed.leave_well();
}

// Its last message is under way as the conduit dies, while the process leaves.
TEST(Direct, WhatAConduitHasWhenItDiesGoesByGatewaysBeforeBye) {
  Testbed bed({.sizes = {1, 1}, .direct = {{0, 1, false}}});
  bed.start();
  std::uint64_t before = 0;
  do {
    before = crossed(bed.counts(0));
    bed.exchange(0, 1, 1'000'000);
  } while (crossed(bed.counts(0)) != before);
  TestMessage message(0, 1, 256 << 10);
  bed.rank(1).recv(message.recv);
  bed.rank(1).drop_direct();
  bed.rank(0).send(message.send);
  std::future<void> leaving = std::async(std::launch::async, [&] { bed.rank(0).leave(); });
  bed.wait(1, message.recv);
  EXPECT_TRUE(message.is_right());
  leaving.get();
  bed.rank(1).leave();
  for (int r = 0; r < 2; ++r) EXPECT_FALSE(bed.faulted(r));
}

// Routes are chosen per pair of clusters.
TEST(Direct, OtherClustersStillTakeTheGateways) {
  Testbed bed({.sizes = {1, 1, 1}, .direct = {{0, 1, false}}});
  bed.start();
  for (const std::size_t size : kDirectSizes) {
    for (const auto& [from, to] : {std::pair(0, 1), {1, 2}, {2, 0}}) bed.exchange(from, to, size);
  }
  bed.leave_all();
}

}  // namespace
}  // namespace isthmus::daemon
