#include "daemon/service/worker.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <csignal>
#include <optional>

#include "core/base/hex.hpp"
#include "daemon/service/user_desk.hpp"
#include "daemon/service/worker_channel.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kReport{500};
// Memory that the process needs besides the buffers of its connections.
constexpr std::uint64_t kOwnMemory = std::uint64_t{128} << 20;
constexpr std::uint64_t kOwnFiles = 256;  // besides connections and strangers

void set_limit(__rlimit_resource what, std::uint64_t most) {
  rlimit limit{};
  ::getrlimit(what, &limit);
  limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
  ::setrlimit(what, &limit);
}

json of_keys(const UserCounts& counts) {
  json all = json::object();
  for (const auto& [key, of] : counts.keys) {
    all[key] = {{"connections", of.connections},
                {"bytes", of.bytes},
                {"refused", of.refused},
                {"throttled", of.throttled}};
  }
  return all;
}

class Worker {
 public:
  Worker()
      : desk_(io_,
              [this](json event) {
                channel_->send({{"op", "audit"}, {"event", event}});
              }),
        report_(io_) {
    channel_.emplace(
        io_, FileDescriptor(kWorkerSocket),
        [this](const json& message, FileDescriptor descriptor) {
          heard(message, std::move(descriptor));
        },
        [] { std::_Exit(0); });
    report();
  }

  void run() { io_.run(); }

 private:
  void heard(const json& message, FileDescriptor descriptor) {
    const std::string op = message.value("op", "");
    if (op == "terms") return learn(message);
    if (op == "drain") return desk_.drain();
    if (op != "connection") return;
    ++received_;
    if (!descriptor) return;
    net::Socket socket(io_);
    std::error_code error;
    const bool v6 = message.value("v6", false);
    socket.assign(asio::generic::stream_protocol(v6 ? AF_INET6 : AF_INET, IPPROTO_TCP),
                  descriptor.release(), error);
    if (error) return;
    desk_.serve(std::move(socket), message.value("from", ""),
                {message.value("key", ""), message.value("job", "")});
  }

  void learn(const json& message) {
    UserTerms terms;
    terms.user = message.value("user", "");
    terms.limits.jobs = message.value("jobs", 1);
    terms.limits.connections = message.value("connections", 1);
    terms.limits.rate = message.value("rate", std::uint64_t{0});
    terms.limits.memory = message.value("memory", std::uint64_t{0});
    for (const json& key : message.value("keys", json::array())) {
      terms.keys[key.value("id", "")] = {
          core::from_hex(key.value("secret", "")).value_or(""),
          key.value("revoked", ""),
          {key.value("connections", 0), key.value("rate", std::uint64_t{0}),
           key.value("memory", std::uint64_t{0})}};
    }
    set_limit(RLIMIT_DATA, terms.limits.memory + kOwnMemory);
    // A connection that comes when all files are open is lost without a word.
    set_limit(RLIMIT_NOFILE, static_cast<std::uint64_t>(terms.limits.connections) +
                                 desk_.most_strangers() + kOwnFiles);
    desk_.learn(std::move(terms));
  }

  void report() {
    if (const UserCounts now = desk_.counts(); !(now == told_) || received_ != told_received_) {
      const bool sent = channel_->send({{"op", "counts"},
                                        {"jobs", now.jobs},
                                        {"connections", now.connections},
                                        {"bytes", now.bytes},
                                        {"refused", now.refused},
                                        {"throttled", now.throttled},
                                        {"keys", of_keys(now)},
                                        {"dropped", now.dropped},
                                        {"received", received_}});
      if (sent) {
        told_ = now;
        told_received_ = received_;
      }
    }
    report_.expires_after(kReport);
    report_.async_wait([this](const std::error_code& error) {
      if (!error) report();
    });
  }

  asio::io_context io_{1};
  std::optional<WorkerChannel> channel_;
  UserDesk desk_;
  asio::steady_timer report_;
  UserCounts told_;
  std::uint64_t received_ = 0, told_received_ = 0;  // connections that were handed over
};

}  // namespace

int run_service_worker() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // the service decides when it ends
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  ::prctl(PR_SET_DUMPABLE, 0);  // it has keys in its memory
  set_limit(RLIMIT_CORE, 0);
  Worker worker;
  worker.run();
  return 0;
}

}  // namespace isthmus::daemon
