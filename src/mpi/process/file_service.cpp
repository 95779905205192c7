#include "mpi/process/file_service.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "core/service.hpp"
#include "file/server.hpp"
#include "mpi/process/file_worker.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

// A process has at most 1024 requests of accesses under way, and its threads a call each: more is
// no program's doing.
constexpr std::size_t kMostWaiting = 4096;
// Who holds a range does so while it reads or writes once.
constexpr std::chrono::microseconds kRetry{200};

void post(core::Engine& engine, core::NodeId to, std::uint64_t context,
          std::vector<std::byte> bytes) {
  const core::Envelope envelope{
      .context = context, .source = grid()->node, .tag = 0, .size = bytes.size()};
  engine.post(to, envelope, std::move(bytes));
}

/// Takes requests on the I/O's turn; a thread of its own, which the file system may hold up, does
/// them.
class Requests final : public core::Service {
 public:
  bool take(core::NodeId from, const core::Envelope&, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    if (waiting_[from] >= kMostWaiting) return false;
    ++waiting_[from];
    queue_.push_back({from, {bytes.begin(), bytes.end()}});
    if (!std::exchange(started_, true)) {
      start_helper([this] { run(); });
    }
    come_.notify_one();
    return true;
  }

 private:
  struct Message {
    core::NodeId from;
    std::vector<std::byte> bytes;
  };

  [[noreturn]] void run() {
    std::deque<Message> refused;  // want a range that another has
    for (;;) {
      std::deque<Message> now;
      {
        std::unique_lock lock(mutex_);
        const auto something = [this] { return !queue_.empty(); };
        if (refused.empty()) {
          come_.wait(lock, something);
        } else {
          come_.wait_for(lock, kRetry, something);
        }
        now.swap(queue_);
      }
      std::deque<Message> again = std::move(refused);
      refused.clear();
      for (auto* messages : {&again, &now}) {
        for (Message& message : *messages) {
          if (!answer(message)) refused.push_back(std::move(message));
        }
      }
    }
  }

  bool answer(const Message& message) {
    const auto request = file::decode_request(message.bytes);
    // What cannot be read has no number to answer to: its sender is of another version, and
    // gateways see to it that there is none.
    if (request) {
      auto reply = server_.handle(message.from, *request);
      if (!reply) return false;
      grid()->endpoint->locked([&](core::Engine& engine) {
        post(engine, message.from, traffic::kFileReplies, std::move(*reply));
      });
    }
    const std::lock_guard lock(mutex_);
    --waiting_[message.from];
    return true;
  }

  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Message> queue_;
  std::map<core::NodeId, std::size_t> waiting_;
  bool started_ = false;
  file::Server server_;  // of the thread
};

class Replies final : public core::Service {
 public:
  /// What takes them. In its lock.
  void serve_by(core::Engine& engine) { engine_ = &engine; }

  bool take(core::NodeId from, const core::Envelope&, std::span<const std::byte> bytes) override {
    std::shared_ptr<file::Caller> caller;
    {
      const std::lock_guard lock(mutex_);
      const auto found = callers_.find(from);
      if (found == callers_.end()) return false;
      caller = found->second;
    }
    return caller->take(bytes, [&](std::vector<std::byte> message) {
      post(*engine_, from, traffic::kFileRequests, std::move(message));
    });
  }

  std::shared_ptr<file::Caller> caller(core::NodeId node) {
    const std::lock_guard lock(mutex_);
    auto& found = callers_[node];
    if (!found) {
      found = std::make_shared<file::Caller>([node](const auto& body) {
        grid()->endpoint->locked([&](core::Engine& engine) {
          body([&](std::vector<std::byte> message) {
            post(engine, node, traffic::kFileRequests, std::move(message));
          });
        });
      });
    }
    return found;
  }

 private:
  core::Engine* engine_ = nullptr;
  std::mutex mutex_;
  std::map<core::NodeId, std::shared_ptr<file::Caller>> callers_;
};

struct Services {
  std::mutex mutex;
  const net::Endpoint* served = nullptr;
  Requests requests;
  Replies replies;
};
Services& services() {
  static auto* const all = new Services;  // never destroyed: its thread outlives static objects
  return *all;
}

}  // namespace

void serve_files() {
  Services& all = services();
  const std::lock_guard lock(all.mutex);
  net::Endpoint* const endpoint = grid()->endpoint.get();
  if (all.served == endpoint) return;
  endpoint->locked([&](core::Engine& engine) {
    engine.serve(traffic::kFileRequests, all.requests);
    all.replies.serve_by(engine);
    engine.serve(traffic::kFileReplies, all.replies);
  });
  all.served = endpoint;
}

std::shared_ptr<file::Caller> file_caller(core::NodeId node) {
  return services().replies.caller(node);
}

}  // namespace isthmus::face
