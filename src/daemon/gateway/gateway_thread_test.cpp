#include "daemon/gateway/gateway_thread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

namespace isthmus::daemon {
namespace {

using Id = std::thread::id;

Id here() { return std::this_thread::get_id(); }

/// An owner whose loop never ends by itself.
struct Owner : asio::io_context {
  asio::executor_work_guard<executor_type> busy{get_executor()};
};

TEST(GatewayThread, WithoutOneAllHappensAtOnce) {
  Owner owner;
  GatewayThread none(owner);
  EXPECT_EQ(&none.io(), &owner);
  std::vector<int> order;
  none.post([&] { order.push_back(1); });
  const auto hear = none.told<int>([&](int value) { order.push_back(value); });
  EXPECT_EQ(none.call([&] {
    hear(2);
    return 3;
  }),
            3);
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_EQ(owner.poll(), 0U);
}

TEST(GatewayThread, WhatIsAskedForHappensThereInOrder) {
  Owner owner;
  GatewayThread thread(owner, "test");
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) thread.post([&order, i] { order.push_back(i); });
  const Id there = thread.call(here);
  EXPECT_NE(there, here());
  EXPECT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(GatewayThread, WhatIsToldIsHeardOnTheOwnersThreadInOrder) {
  Owner owner;
  GatewayThread thread(owner, "test");
  std::vector<std::string> heard;
  const auto hear = thread.told<const std::string&, int>(
      [&, owners = here()](const std::string& word, int number) {
        EXPECT_EQ(here(), owners);
        heard.push_back(word + std::to_string(number));
      });
  thread.post([hear] {
    for (int i = 0; i < 3; ++i) hear("a", i);
  });
  while (heard.size() < 3) owner.run_one();
  EXPECT_EQ(heard, (std::vector<std::string>{"a0", "a1", "a2"}));
}

TEST(GatewayThread, WhatWasToldIsHeardBeforeACallReturns) {
  Owner owner;
  GatewayThread thread(owner, "test");
  int heard = 0;
  thread.post([&] { thread.tell([&] { ++heard; }); });
  EXPECT_THROW(thread.call([&] {
    thread.tell([&] { ++heard; });
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_EQ(heard, 2);
  owner.poll();
  EXPECT_EQ(heard, 2);
}

TEST(GatewayThread, OneWhoHearsMayAskForMore) {
  Owner owner;
  GatewayThread thread(owner, "test");
  std::vector<int> order;
  thread.post([&] {
    thread.tell([&] { order.push_back(thread.call([] { return 1; })); });
    thread.tell([&] { order.push_back(2); });
  });
  while (order.size() < 2) owner.run_one();
  EXPECT_EQ(order.size(), 2U);
}

TEST(GatewayThread, AnExceptionThereIsThrownFromTheOwnersLoop) {
  Owner owner;
  GatewayThread thread(owner, "test");
  thread.post([] { throw std::runtime_error("broken"); });
  EXPECT_EQ(thread.call([] { return 7; }), 7);  // who waits is answered all the same
  EXPECT_THROW(owner.run(), std::runtime_error);
}

TEST(GatewayThread, ItsEndWaitsForWhatWasAskedForAndTellsNothing) {
  Owner owner;
  bool done = false, heard = false;
  {
    GatewayThread thread(owner, "test");
    thread.post([&] {
      thread.tell([&] { heard = true; });
      done = true;
    });
  }
  EXPECT_TRUE(done);
  owner.poll();
  EXPECT_FALSE(heard);
}

TEST(GatewayThread, TwoTellEachOtherByTheirOwner) {
  Owner owner;
  GatewayThread one(owner, "one"), other(owner, "other");
  constexpr int kTimes = 1000;
  int count = 0;
  std::function<void(GatewayThread&, GatewayThread&)> pass = [&](GatewayThread& to,
                                                                 GatewayThread& next) {
    to.post([&] {
      to.tell([&] {
        if (++count < kTimes) pass(next, to);
      });
    });
  };
  pass(one, other);
  while (count < kTimes) {
    owner.run_one();
    one.call([] { return 0; });
  }
  EXPECT_EQ(count, kTimes);
}

}  // namespace
}  // namespace isthmus::daemon
