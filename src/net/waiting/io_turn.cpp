#include "net/waiting/io_turn.hpp"

#include <pthread.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <utility>

namespace isthmus::net {

IoTurn::IoTurn(asio::io_context& io) : io_(io), watch_(asio::use_service<Watch>(io)) {}

std::size_t IoTurn::run_some() {
  std::size_t ran = 0;
  while (ran < kMostHandlers && io_.poll_one() > 0) ++ran;
  return ran;
}

void IoTurn::look() {
  watch_.stay_awake();
  if (!watch_.any()) {
    run_some();
    return;
  }
  memory_has_news_ |= watch_.look();
  // The kernel's answer takes longer than all the rings' answers. So it is asked seldom while news
  // come through rings. If none come there, the news may come through either.
  if (++looks_ < pause_) return;
  looks_ = 0;
  const bool ran = run_some() > 0;  // also what news of rings have led to
  if (std::exchange(memory_has_news_, false)) {
    pause_ = std::min(2 * pause_, watch_.sockets() > 0 ? kLooksAtSockets : kLooksAtMemory);
  } else if (ran) {
    pause_ = 1;
  }
}

void IoTurn::run_one() {
  if (watch_.may_sleep()) {
    io_.run_one();
  } else {
    watch_.look();
  }
}

void IoTurn::run() {
  const auto work = asio::make_work_guard(io_);
  while (!stopped_) {
    {
      const core::Lock turn(turn_);
      owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      while (!stopped_ && !wanted_) run_one();
      owner_.store(std::thread::id(), std::memory_order_relaxed);
    }
    core::Lock lock(mutex_);
    unsigned uses = 0;
    auto aside = kAside;
    do {
      uses = uses_;
      const bool called =
          stopping_.wait_for(lock, aside, [this] { return stopped_ || called_; }) && !stopped_;
      if (called) {
        lock.unlock();
        come_by();
        lock.lock();
      }
      aside = std::min(2 * aside, kMostAside);
    } while (!stopped_ && (uses != uses_ || owner_.load() != std::thread::id()));
    wanted_ = false;
  }
}

// Runs the ready work and leaves the turn to the program. A thread that has the turn does so
// itself.
void IoTurn::come_by() {
  called_ = false;
  if (!try_take()) return;
  io_.poll();
  give();
}

void IoTurn::call() {
  if (called_.exchange(true)) return;
  { const core::Lock lock(mutex_); }
  stopping_.notify_all();
}

void IoTurn::stop() {
  {
    const core::Lock lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  asio::post(io_, [] {});  // for the one that sleeps in run_one
}

bool IoTurn::try_take() {
  if (stopped_ || mine() || !turn_.try_lock()) return false;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  uses_.store(uses_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

bool IoTurn::take_or_ask() {
  if (try_take()) return true;
  if (!stopped_ && !mine() && !wanted_.exchange(true)) asio::post(io_, [] {});
  return false;
}

void IoTurn::give() {
  const int cancel_state = cancel_state_;
  owner_.store(std::thread::id(), std::memory_order_relaxed);
  turn_.unlock();
  pthread_setcancelstate(cancel_state, nullptr);
}

}  // namespace isthmus::net
