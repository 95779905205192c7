#include "net/waiting/looking_loop.hpp"

#include <gtest/gtest.h>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>

#include "net/stream/watch.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

/// Has news at every third look, and wakes a thread that sleeps again and again.
class Bell final : public Watched {
 public:
  explicit Bell(asio::io_context& io) : io_(io), watch_(asio::use_service<Watch>(io)) {
    watch_.add(*this);
  }
  ~Bell() { watch_.remove(*this); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  bool look() override {
    const bool news = watch_.awake() && ++looks_ % 3 == 0;
    if (news && ++found == kWanted) io_.stop();
    return news;
  }
  bool ready() const override { return false; }
  void asleep(bool is) override {
    if (is) ring();
  }
  void ring() {
    asio::post(io_, [this] {
      ++rung;
      if (std::chrono::steady_clock::now() > end_) io_.stop();
      if (watch_.awake()) return;
      watch_.woken();
      ring();
    });
  }

  static constexpr int kWanted = 3;
  int found = 0, rung = 0;

 private:
  asio::io_context& io_;
  Watch& watch_;
  int looks_ = 0;
  // Looking is given up for 200 ms at a time where others compute.
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + 1min;
};

TEST(LookingLoopTest, WhatComesWhileItLooksIsFoundWithoutAWakeUp) {
  asio::io_context io;
  const auto work = asio::make_work_guard(io);
  Bell bell(io);
  bell.ring();
  run_looking(io);
  EXPECT_EQ(bell.found, Bell::kWanted) << bell.rung << " wake-ups";
}

/// As a ring that is written as fast as it is read.
class Flood final : public Watched {
 public:
  bool look() override { return false; }
  bool ready() const override { return true; }
  void asleep(bool) override {}
};

TEST(LookingLoopTest, RingsThatNeverRestDoNotKeepTheKernelsNewsWaiting) {
  asio::io_context io;
  auto& watch = asio::use_service<Watch>(io);
  Flood flood;
  watch.add(flood);
  asio::steady_timer timer(io, 20ms);
  timer.async_wait([&](const std::error_code&) { io.stop(); });
  asio::post(io, [&] { watch.woken(); });
  run_looking(io);
  watch.remove(flood);
}

TEST(LookingLoopTest, EndsWhenNothingIsLeftToDo) {
  asio::io_context io;
  auto& watch = asio::use_service<Watch>(io);
  asio::post(io, [&] { watch.woken(); });
  run_looking(io);
  EXPECT_FALSE(watch.awake()) << "arrivals wake it";
}

}  // namespace
}  // namespace isthmus::net
