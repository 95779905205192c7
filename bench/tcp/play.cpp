#include "tcp/play.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

namespace isthmus::tcpbench {
namespace {

constexpr int kWarmUp = 2;  // round trips that are not counted
constexpr std::uint64_t kFirstBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// A thread whose exception comes out of join().
class Worker {
 public:
  template <class Work>
  explicit Worker(Work work)
      : thread_([this, work = std::move(work)] {
          try {
            work();
          } catch (...) {
            error_ = std::current_exception();
          }
        }) {}
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  void join() {
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
  std::thread thread_;
};

Samples pingpong(const Task& task, const Connection& talk, bool leader) {
  Samples samples;
  std::vector<char> buffer(task.bytes);
  for (int i = -kWarmUp; i < task.rounds; ++i) {
    if (!leader) talk.receive(buffer.data(), buffer.size());
    const double start = now();
    talk.send(buffer.data(), buffer.size());
    if (!leader) continue;
    talk.receive(buffer.data(), buffer.size());
    if (i >= 0) samples.seconds.push_back(now() - start);
  }
  return samples;
}

void send_messages(const Connection& talk, std::uint64_t bytes, std::uint64_t count) {
  const std::vector<char> message(bytes);
  for (std::uint64_t i = 0; i < count; ++i) talk.send(message.data(), message.size());
}

// One round: from the first message to the word that all have arrived. Over TLS one way alone: an
// SSL is for one thread.
double flow(const Task& task, const Connection& talk, bool leader, std::uint64_t count) {
  const bool both = task.figure == Figure::Bidirectional;
  char word = 0;
  const double start = now();
  {
    std::optional<Worker> sender;  // beside what comes
    if (both) sender.emplace([&] { send_messages(talk, task.bytes, count); });
    if (leader && !both) send_messages(talk, task.bytes, count);
    if (!leader || both) talk.drop(task.bytes * count);
    if (sender) sender->join();
  }
  if (!leader) talk.send(&word, 1);
  if (leader) talk.receive(&word, 1);
  return now() - start;
}

// Rounds get longer until one takes a good part of the time wanted; then as many as are wanted.
Samples flows(const Task& task, const Connection& talk, bool leader) {
  Samples samples;
  std::uint64_t count = std::max<std::uint64_t>(kFirstBytes / task.bytes / 4, 4);
  bool trial = true;
  while (trial || samples.seconds.size() < static_cast<std::size_t>(task.rounds)) {
    if (leader) talk.send(&count, sizeof count);
    if (!leader) talk.receive(&count, sizeof count);
    if (count == 0) break;
    const double seconds = flow(task, talk, leader, count);
    if (!leader) continue;
    if (!trial) {
      samples.seconds.push_back(seconds);
      samples.messages.push_back(count);
    } else if (seconds >= task.seconds / 4) {
      trial = false;
      const double more = std::min(task.seconds / seconds, 4.0);
      count =
          std::max<std::uint64_t>(static_cast<std::uint64_t>(more * static_cast<double>(count)), 4);
    } else {
      count *= 4;
    }
  }
  const std::uint64_t end = 0;
  if (leader) talk.send(&end, sizeof end);
  return samples;
}

Samples loaded(const Task& task, const Pair& pair, bool leader) {
  Samples samples;
  std::vector<char> buffer(task.bytes);
  std::atomic<bool> over = false;
  Worker bulk([&] {
    if (leader) {
      const std::vector<char> block(kBlock);
      for (std::uint64_t left = task.total; left > 0;) {
        const std::uint64_t size = std::min(left, kBlock);
        pair.bulk.send(block.data(), size);
        left -= size;
      }
      char word = 0;
      pair.bulk.receive(&word, 1);
    } else {
      const char word = 0;
      pair.bulk.drop(task.total);
      pair.bulk.send(&word, 1);
    }
    over = true;
  });
  // The first byte of a ping shows whether another follows.
  for (bool more = true; more;) {
    more = !over;
    if (leader) buffer[0] = more ? 1 : 0;
    if (!leader) pair.talk.receive(buffer.data(), buffer.size());
    const double start = now();
    pair.talk.send(buffer.data(), buffer.size());
    if (leader) {
      pair.talk.receive(buffer.data(), buffer.size());
      if (more) samples.seconds.push_back(now() - start);
    } else {
      more = buffer[0] != 0;
    }
  }
  bulk.join();
  return samples;
}

}  // namespace

Samples play(const Task& task, const Pair& pair, bool leader) {
  if (task.figure == Figure::Bidirectional && pair.talk.encrypted()) {
    throw std::runtime_error(task.text + ": is measured without TLS alone");
  }
  switch (task.figure) {
    case Figure::Pingpong:
      return pingpong(task, pair.talk, leader);
    case Figure::Loaded:
      return loaded(task, pair, leader);
    default:
      return flows(task, pair.talk, leader);
  }
}

}  // namespace isthmus::tcpbench
