// The turn to run an io_context, which one thread has at a time. Usually it is the I/O thread. A
// thread of the program that waits for the grid, or has something to send, takes the turn. So no
// message waits for one thread to wake another. When the program is busy elsewhere, the I/O thread
// takes it back within kMostAside.
#pragma once

#include <asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "core/base/mutex.hpp"
#include "net/stream/watch.hpp"

namespace isthmus::net {

class IoTurn {
 public:
  explicit IoTurn(asio::io_context& io);

  /// The life of the I/O thread; until stop().
  void run();
  /// Makes run() return. On any thread; whatever was posted before is not waited for.
  void stop();

  /// On a thread of the program. True: the turn is its own until give(); handlers may run. Until
  /// then the thread is not cancelled (pthread_cancel): others would wait for the turn forever.
  bool try_take() TRY_ACQUIRE(true, turn_);
  /// As try_take. When the I/O thread has the turn it is asked to give it up, for the next time.
  bool take_or_ask() TRY_ACQUIRE(true, turn_);
  void give() RELEASE(turn_);
  /// For a thread of the program that has posted urgent work. The thread with the turn runs it, or
  /// the I/O thread comes by.
  void call();
  /// Runs the handlers that are ready, and looks at memory that others write. Only for who has the
  /// turn, as the next.
  void look();
  /// Runs a handler; sleeps until there is one.
  void run_one();
  /// No thread has the turn, as far as a look without taking it can tell.
  bool is_free() const { return owner_.load(std::memory_order_relaxed) == std::thread::id(); }
  /// The calling thread has the turn.
  bool mine() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

 private:
  void come_by();
  std::size_t run_some();

  // The time that an arrival may wait once the program has stopped waiting for the grid. It doubles
  // while the program goes on waiting. It is short against the delay of a wide-area network. It is
  // long against the cost of a look, which disturbs ranks that share the core (about 5 us; November
  // 2026).
  static constexpr std::chrono::microseconds kAside{500}, kMostAside{2000};

  // The number of handlers in one look. The looking thread should see soon that its message has
  // come. Some handlers follow each other without end, such as those that read a large lent message
  // in pieces.
  static constexpr std::size_t kMostHandlers = 16;

  // At most, for one at the sockets, of all but those that are looked at themselves.
  static constexpr unsigned kLooksAtMemory = 64, kLooksAtSockets = 8;

  asio::io_context& io_;
  Watch& watch_;
  unsigned looks_ = 0, pause_ = 1;  // looks since the last at the sockets; between two of them
  bool memory_has_news_ = false;    // since then
  core::Mutex turn_;
  std::atomic<std::thread::id> owner_{};  // written with turn_ held
  std::atomic<bool> wanted_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> called_{false};
  std::atomic<unsigned> uses_{0};           // by the program; written with turn_ held
  int cancel_state_ GUARDED_BY(turn_) = 0;  // of the thread that has the turn, before it took it
  core::Mutex mutex_;
  core::Condition stopping_;
};

}  // namespace isthmus::net
