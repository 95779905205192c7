#include "mpi/process/file_service.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/service.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/file_requests.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

/// Processes of other clusters, which share the services of the node's cluster evenly.
std::size_t askers_of(core::NodeId node) {
  const core::World& world = grid()->world();
  const core::Cluster& home = world.clusters[world.cluster_of(static_cast<int>(node))];
  const int services = std::max(home.size, 1);
  return static_cast<std::size_t>((world.size() - home.size + services - 1) / services);
}

std::shared_ptr<file::Caller> make_caller(core::NodeId node, std::uint64_t requests) {
  const auto enter = [node, requests](const auto& body) {
    last_grid()->endpoint->locked([&](core::Engine& engine) {
      body([&](std::vector<std::byte> message) {
        post_file_message(engine, node, requests, std::move(message));
      });
    });
  };
  return std::make_shared<file::Caller>(enter, file::window_among(askers_of(node)));
}

bool take_reply(file::Caller& caller, core::NodeId from, std::uint64_t requests,
                core::Engine& engine, std::span<const std::byte> bytes) {
  return caller.take(bytes, [&](std::vector<std::byte> message) {
    post_file_message(engine, from, requests, std::move(message));
  });
}

class Replies final : public core::Service {
 public:
  /// Sets the engine of the replies. In its lock.
  void serve_by(core::Engine& engine) { engine_ = &engine; }

  bool take(core::NodeId from, const core::Envelope&, std::span<const std::byte> bytes) override {
    std::shared_ptr<file::Caller> caller;
    {
      const core::Lock lock(mutex_);
      const auto found = callers_.find(from);
      if (found == callers_.end()) return false;
      caller = found->second;
    }
    return take_reply(*caller, from, traffic::kFileRequests, *engine_, bytes);
  }

  std::shared_ptr<file::Caller> caller(core::NodeId node) {
    const core::Lock lock(mutex_);
    auto& found = callers_[node];
    if (!found) found = make_caller(node, traffic::kFileRequests);
    return found;
  }
  std::map<core::NodeId, std::shared_ptr<file::Caller>> callers() {
    const core::Lock lock(mutex_);
    return callers_;
  }

 private:
  core::Engine* engine_ = nullptr;
  core::Mutex mutex_;
  std::map<core::NodeId, std::shared_ptr<file::Caller>> callers_ GUARDED_BY(mutex_);
};

/// The replies of one process about one file.
class RepliesOfOne final : public core::Service {
 public:
  RepliesOfOne(core::Engine& engine, core::NodeId node, std::uint64_t requests)
      : engine_(engine), node_(node), requests_(requests), caller(make_caller(node, requests)) {}

  bool take(core::NodeId from, const core::Envelope&, std::span<const std::byte> bytes) override {
    return from == node_ && take_reply(*caller, from, requests_, engine_, bytes);
  }

 private:
  core::Engine& engine_;
  const core::NodeId node_;
  const std::uint64_t requests_;

 public:
  const std::shared_ptr<file::Caller> caller;
};

struct Services {
  core::Mutex mutex;
  const net::Endpoint* served GUARDED_BY(mutex) = nullptr;
  const std::shared_ptr<FileRequests> requests =
      std::make_shared<FileRequests>(traffic::kFileReplies);
  Replies replies;
  // Services of files that several runs have open, by the context of their requests.
  std::map<std::uint64_t, std::shared_ptr<core::Service>> of_files GUARDED_BY(mutex);
};
Services& services() {
  static auto* const all = new Services;  // never destroyed
  return *all;
}

/// Ends the requests to a process if its cluster has failed.
void lose_if_failed(core::NodeId node, file::Caller& caller) {
  const std::size_t cluster = grid()->world().cluster_of(static_cast<int>(node));
  if (!FailedClusters::all().has(cluster)) return;
  caller.lose(EHOSTDOWN,
              "the process that serves the file has failed: " + FailedClusters::all().why(cluster));
}

std::uint64_t requests_about(std::uint64_t file) { return file | core::kServiceContext; }
std::uint64_t replies_about(std::uint64_t file) { return requests_about(file) | 1; }

void serve_file(std::uint64_t context, std::shared_ptr<core::Service> service) {
  Services& all = services();
  const core::Lock lock(all.mutex);
  grid()->endpoint->locked([&](core::Engine& engine) { engine.serve(context, *service); });
  all.of_files.emplace(context, std::move(service));
}

}  // namespace

void serve_files() {
  Services& all = services();
  const core::Lock lock(all.mutex);
  net::Endpoint* const endpoint = grid()->endpoint.get();
  if (all.served == endpoint) return;
  endpoint->locked([&](core::Engine& engine) {
    engine.serve(traffic::kFileRequests, *all.requests);
    all.replies.serve_by(engine);
    engine.serve(traffic::kFileReplies, all.replies);
  });
  all.served = endpoint;
}

std::shared_ptr<file::Caller> file_caller(core::NodeId node) {
  const auto caller = services().replies.caller(node);
  lose_if_failed(node, *caller);
  return caller;
}

void lose_failed_services() {
  static std::atomic<std::uint32_t> seen{0};
  const std::uint32_t count = FailedClusters::all().count();
  if (seen.exchange(count) == count) return;
  for (const auto& [node, caller] : services().replies.callers()) lose_if_failed(node, *caller);
}

void serve_one_file(std::uint64_t file, const file::Paths& paths) {
  serve_file(requests_about(file), std::make_shared<FileRequests>(replies_about(file), paths));
}

std::shared_ptr<file::Caller> caller_about(std::uint64_t file, core::NodeId node) {
  core::Engine* engine = nullptr;
  grid()->endpoint->locked([&](core::Engine& found) { engine = &found; });
  const auto replies = std::make_shared<RepliesOfOne>(*engine, node, requests_about(file));
  serve_file(replies_about(file), replies);
  return replies->caller;
}

void end_file(std::uint64_t file) {
  Services& all = services();
  const core::Lock lock(all.mutex);
  for (const std::uint64_t context : {requests_about(file), replies_about(file)}) {
    const auto found = all.of_files.extract(context);
    if (found.empty()) continue;
    grid()->endpoint->locked([&](core::Engine& engine) { engine.end_service(context); });
  }
}

}  // namespace isthmus::face
