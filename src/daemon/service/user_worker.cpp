#include "daemon/service/user_worker.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/any_json.hpp"
#include "core/base/hex.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/service/worker.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr std::size_t kMostKeys = 200;  // the most in a message: a packet has 64 KiB

std::map<std::string, KeyCounts> key_counts(const json& said) {
  std::map<std::string, KeyCounts> counts;
  for (const auto& [key, of] : said.items()) {
    counts[key] = {of.value("connections", std::size_t{0}), of.value("bytes", std::uint64_t{0}),
                   of.value("refused", std::uint64_t{0}), of.value("throttled", 0.0)};
  }
  return counts;
}

}  // namespace

UserWorker::UserWorker(asio::io_context& io, std::string user, const std::string& self,
                       Events events)
    : user_(std::move(user)), events_(std::move(events)) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Failure(std::string("cannot start a process for a user: ") + std::strerror(errno));
  }
  FileDescriptor near(ends[0]), far(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Onto itself it would stay closed on exec.
  if (far.get() == kWorkerSocket) far.reset(::fcntl(far.release(), F_DUPFD_CLOEXEC, 10));
  ::posix_spawn_file_actions_adddup2(&actions, far.get(), kWorkerSocket);
  std::string program = self, role = "service-user", whose = user_;
  std::array<char*, 4> words{program.data(), role.data(), whose.data(), nullptr};
  const int error =
      ::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Failure("cannot start a process for user " + user_ + ": " + std::strerror(error));
  }
  channel_.emplace(
      io, std::move(near),
      [this](const json& message, const FileDescriptor&) {
        if (message.value("op", "") == "audit") {
          json event = message.value("event", json::object());
          event["user"] = user_;
          events_.audit(std::move(event));
          return;
        }
        counts_ = {message.value("jobs", std::size_t{0}),
                   message.value("connections", std::size_t{0}),
                   message.value("bytes", std::uint64_t{0}),
                   message.value("refused", std::uint64_t{0}),
                   message.value("throttled", 0.0),
                   key_counts(message.value("keys", json::object())),
                   message.value("dropped", std::uint64_t{0})};
        received_ = message.value("received", std::uint64_t{0});
      },
      [this] { events_.gone(); });
}

void UserWorker::tell(const std::vector<ServiceKey>& keys, const UserLimits& limits) {
  json own = json::array();
  const auto add = [&own](const ServiceKey& key) {
    if (own.size() >= kMostKeys) return;
    own.push_back({{"id", key.id}, {"secret", core::to_hex(key.secret)}, {"revoked", key.revoked}});
    if (!key.limits.any()) return;
    own.back()["connections"] = key.limits.connections;
    own.back()["rate"] = key.limits.rate;
    own.back()["memory"] = key.limits.memory;
  };
  for (const ServiceKey& key : keys) {
    if (key.user == user_ && key.revoked.empty()) add(key);
  }
  for (const ServiceKey& key : keys) {
    if (key.user == user_ && !key.revoked.empty()) add(key);
  }
  json terms{{"op", "terms"},         {"user", user_},
             {"jobs", limits.jobs},   {"connections", limits.connections},
             {"rate", limits.rate},   {"memory", limits.memory},
             {"keys", std::move(own)}};
  channel_->send(terms);
  core::wipe_secrets(terms);
}

void UserWorker::drain() { channel_->send({{"op", "drain"}}); }

bool UserWorker::serve(int socket, bool v6, const std::string& from, const Opening& opening) {
  const bool handed = channel_->send({{"op", "connection"},
                                      {"v6", v6},
                                      {"from", from},
                                      {"key", opening.key},
                                      {"job", opening.job}},
                                     socket);
  if (handed) ++handed_;
  return handed;
}

}  // namespace isthmus::daemon
