#include "mpi/process/file_requests.hpp"

#include <unistd.h>

#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "core/base/mutex.hpp"
#include "file/caller.hpp"
#include "file/server.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/file_worker.hpp"
#include "mpi/process/grid.hpp"
#include "net/door/host_addresses.hpp"
#include "net/host/start_thread.hpp"

namespace isthmus::face {
namespace {

// A process has at most 1024 requests of accesses under way, of 16 MiB, and each of its threads one
// call. No program sends more.
constexpr std::size_t kMostWaiting = 4096, kMostBytes = 4 * file::kMostUnderWay;
// A process holds a range only while it reads or writes once.
constexpr std::chrono::microseconds kRetry{200};

/// Handles requests in the order in which they have come.
class Answers {
 public:
  bool add(std::shared_ptr<FileRequests> by, core::NodeId from, std::span<const std::byte> bytes) {
    const core::Lock lock(mutex_);
    Waiting& waiting = waiting_[from];
    if (waiting.messages >= kMostWaiting || waiting.bytes + bytes.size() > kMostBytes) return false;
    ++waiting.messages;
    waiting.bytes += bytes.size();
    queue_.push_back({std::move(by), from, {bytes.begin(), bytes.end()}});
    if (!started_) start();
    come_.notify_one();
    return true;
  }

 private:
  // On the thread that does the I/O. Without the service other processes would wait forever.
  void start() REQUIRES(mutex_) {
    try {
      start_helper([this] { run(); });
      started_ = true;
    } catch (const net::NoThread& refused) {
      const std::string sentence = "rank " + std::to_string(last_grid()->world_rank) + " on " +
                                   net::host_name() + " cannot serve files: " + refused.what();
      const std::string line = "isthmus: " + sentence + "\n";
      [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
      last_grid()->endpoint->abort(1, sentence);
      _exit(1);
    }
  }

  struct Message {
    std::shared_ptr<FileRequests> by;
    core::NodeId from;
    std::vector<std::byte> bytes;
  };

  [[noreturn]] void run() {
    std::deque<Message> refused;  // want a range that another has
    for (;;) {
      std::deque<Message> now;
      {
        core::Lock lock(mutex_);
        const auto something = [this]() REQUIRES(mutex_) { return !queue_.empty(); };
        if (refused.empty()) {
          come_.wait(lock, something);
        } else {
          come_.wait_for(lock, kRetry, something);
        }
        now.swap(queue_);
      }
      forget_failed();
      std::deque<Message> again = std::move(refused);
      refused.clear();
      for (auto* messages : {&again, &now}) {
        for (Message& message : *messages) {
          if (!answer(message)) refused.push_back(std::move(message));
        }
      }
    }
  }

  /// Clients that have failed free their locks no more.
  void forget_failed() {
    FailedClusters& failed = FailedClusters::all();
    if (failed.count() == forgotten_) return;
    const std::vector<std::size_t> clusters = failed.first(failed.count());
    for (; forgotten_ < clusters.size(); ++forgotten_) {
      const core::Cluster& cluster = last_grid()->world().clusters[clusters[forgotten_]];
      for (int i = 0; i < cluster.size; ++i) {
        server_.forget(static_cast<std::uint32_t>(cluster.first + i));
      }
    }
  }

  bool answer(const Message& message) {
    const auto request = file::decode_request(message.bytes);
    // An unreadable request has no number to answer to. Its sender would be of another version, and
    // gateways refuse such senders.
    if (request) {
      auto reply = server_.handle(message.from, *request, message.by->only());
      if (!reply) return false;
      last_grid()->endpoint->locked([&](core::Engine& engine) {
        post_file_message(engine, message.from, message.by->replies(), std::move(*reply));
      });
    }
    const core::Lock lock(mutex_);
    --waiting_[message.from].messages;
    waiting_[message.from].bytes -= message.bytes.size();
    return true;
  }

  core::Mutex mutex_;
  core::Condition come_;
  std::deque<Message> queue_ GUARDED_BY(mutex_);
  struct Waiting {
    std::size_t messages = 0, bytes = 0;
  };
  std::map<core::NodeId, Waiting> waiting_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;
  // Of the thread:
  file::Server server_;
  std::uint32_t forgotten_ = 0;  // clusters that have failed
};

}  // namespace

void post_file_message(core::Engine& engine, core::NodeId to, std::uint64_t context,
                       std::vector<std::byte> bytes) {
  const core::Envelope envelope{
      .context = context, .source = last_grid()->node, .tag = 0, .size = bytes.size()};
  engine.post(to, envelope, std::move(bytes));
}

bool FileRequests::take(core::NodeId from, const core::Envelope&,
                        std::span<const std::byte> bytes) {
  static auto* const answers = new Answers;  // never destroyed: its thread outlives static objects
  return answers->add(shared_from_this(), from, bytes);
}

}  // namespace isthmus::face
