// Worlds that grow while their processes run, and what these ask the launcher.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

core::Growth growth(std::size_t index, std::size_t like, int size, int part) {
  return {index, like, {.name = "c" + std::to_string(index), .size = size, .part = part}};
}

void grow(Testbed& bed, const std::vector<core::Growth>& growths, std::size_t gateways) {
  for (std::size_t i = 0; i < gateways; ++i) {
    bed.on_io([&] {
      for (const core::Growth& each : growths) bed.gateway(i).grow(each);
    });
  }
}

/// Ranks `first` to `last` join as of the cluster where `near` is, in a world grown so.
void join(Testbed& bed, const std::vector<core::Growth>& growths, int first, int last, int near) {
  std::vector<std::future<std::unique_ptr<net::Endpoint>>> joins;
  for (int rank = first; rank <= last; ++rank) {
    net::EndpointConfig config = bed.config(near);
    for (const core::Growth& each : growths) config.world.grow(each);
    config.node = rank;
    joins.push_back(std::async(std::launch::async, [config, fault = bed.on_fault(rank)] {
      return net::Endpoint::join(config, fault);
    }));
  }
  for (auto& each : joins) bed.adopt(each.get());
}

void await_size(net::Endpoint& endpoint, int size) {
  while (endpoint.world()->size() < size) endpoint.wait_event(endpoint.events(), 10ms);
  EXPECT_EQ(endpoint.world()->size(), size);
}

TEST(Growth, NewProcessesSpeakWithThoseThatAreThere) {
  Testbed bed({.sizes = {1, 2}});
  bed.start();
  const std::vector<core::Growth> growths{growth(2, 1, 2, 1)};
  grow(bed, growths, 2);
  join(bed, growths, 3, 4, 1);
  for (int rank = 0; rank < 3; ++rank) await_size(bed.rank(rank), 5);
  for (const std::size_t size : {0, 8, 300'000}) {
    bed.exchange(0, 3, size);
    bed.exchange(4, 0, size);
    bed.exchange(3, 2, size);
    bed.exchange(1, 4, size);
  }
  bed.leave_all();
}

TEST(Growth, EachPartWaitsForItsOwn) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  std::vector<core::Growth> growths{growth(2, 0, 1, 1), growth(3, 1, 1, 2)};
  grow(bed, growths, 2);
  join(bed, growths, 2, 2, 0);  // although nobody of the other part has come
  bed.exchange(2, 1, 8);
  join(bed, growths, 3, 3, 1);
  bed.exchange(2, 3, 8);
  bed.leave_all();
}

TEST(Growth, WhoJoinsLaterLearnsOfWhatCameBetween) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  const std::vector<core::Growth> first{growth(2, 0, 1, 1)}, second{growth(3, 1, 1, 2)};
  grow(bed, first, 2);
  grow(bed, second, 2);
  join(bed, first, 2, 2, 0);
  await_size(bed.rank(2), 4);
  bed.leave_all();
}

TEST(Growth, NewsOfSpareClustersReachesAllAndThoseThatJoinLater) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  const std::vector<core::Growth> growths{growth(2, 0, 1, 1)};
  grow(bed, growths, 2);
  bed.on_io([&] {
    for (int twice = 0; twice < 2; ++twice) bed.gateway(0).spare({0, "d", false, "it has joined"});
  });
  net::EndpointConfig config = bed.config(0);
  for (const core::Growth& each : growths) config.world.grow(each);
  config.node = 2;
  std::atomic<int> heard = 0;
  config.changed = [&heard](net::ClusterChange change, const std::string& cluster,
                            const std::string& why) {
    EXPECT_EQ(change, net::ClusterChange::Joined);
    EXPECT_EQ(cluster + ": " + why, "d: it has joined");
    ++heard;
  };
  bed.adopt(net::Endpoint::join(config, bed.on_fault(2)));
  while (heard == 0) bed.rank(2).wait_event(bed.rank(2).events(), 10ms);
  bed.exchange(2, 1, 8);
  EXPECT_EQ(heard, 1);
  bed.leave_all();
}

TEST(Questions, AreAnsweredWhereTheyCameFrom) {
  Testbed bed;
  bed.start();
  for (int rank = 0; rank < 2; ++rank) {
    const std::uint64_t number = bed.rank(rank).ask("{\"do\":\"open\"}");
    std::optional<std::string> answer;
    while (!(answer = bed.rank(rank).answer(number))) {
      bed.rank(rank).wait_event(bed.rank(rank).events(), 10ms);
    }
    EXPECT_EQ(*answer, "rank " + std::to_string(rank) + " {\"do\":\"open\"}");
    EXPECT_FALSE(bed.rank(rank).answer(number));
  }
  bed.leave_all();
}

}  // namespace
}  // namespace isthmus::daemon
