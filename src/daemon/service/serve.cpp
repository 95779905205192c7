#include "daemon/service/serve.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>

#include "daemon/host/failure.hpp"
#include "daemon/host/open_files.hpp"
#include "daemon/metrics/metrics_server.hpp"
#include "daemon/service/audit.hpp"
#include "daemon/service/config.hpp"
#include "daemon/service/doorway.hpp"
#include "daemon/service/service_metrics.hpp"
#include "daemon/service/user_worker.hpp"
#include "net/door/strangers.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/peer.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;
using nlohmann::json;

constexpr std::chrono::seconds kLookAtKeys{1}, kHandshake{5};

class Service final : DoorwayUser {
 public:
  Service(std::string config_file, std::string self)
      : config_file_(std::move(config_file)),
        self_(std::move(self)),
        config_(read_service_config(config_file_)),
        audit_(config_.audit),
        folder_(config_.keys),
        signals_(io_, SIGHUP, SIGTERM, SIGINT),
        children_(io_, SIGCHLD),
        look_(io_),
        drained_(io_),
        doorway_(io_, *this) {}

  int run() {
    take(folder_.read());
    std::string where;
    for (const std::string& address : config_.listen) where += " " + doorway_.listen(address);
    if (!config_.metrics.empty()) {
      metrics_ = std::make_unique<MetricsServer>(
          io_, config_.metrics,
          [this] {
            std::map<std::string, UserCounts> counts;
            for (const auto& [user, worker] : workers_) counts[user] = worker->counts();
            return service_metrics(counts, past_, refused_, doors());
          },
          [this](const std::string& sentence) { short_of_files(sentence); });
      where += ", metrics at " + metrics_->address();
    }
    std::cerr << fmt::format("isthmusd serve: listens at{}, {} keys\n", where, keys_.size())
              << std::flush;
    await_signals();
    await_children();
    look_at_keys();
    io_.run();
    audit_.tick(true);
    audit_.write({{"event", "stopped"}});
    return 0;
  }

 private:
  bool allowed(const std::string& address) override { return config_.allows(address); }

  // False: its user's process has no room for it now.
  bool named(tcp::socket& socket, const std::string& from, const Opening& opening) override {
    refresh_keys();
    const auto key = std::find_if(keys_.begin(), keys_.end(), [&opening](const ServiceKey& known) {
      return known.id == opening.key;
    });
    if (key == keys_.end()) {
      unknown(std::move(socket), from, opening);
      return true;
    }
    try {
      UserWorker& worker = worker_of(key->user);
      std::error_code error;
      const bool v6 = socket.local_endpoint(error).address().is_v6();
      if (!worker.serve(socket.native_handle(), v6, from, opening)) return false;
    } catch (const Failure& failure) {
      refused(from, failure.what());
    }
    std::error_code ignored;
    socket.close(ignored);  // the user's process has a copy
    return true;
  }

  // It hears that its key is not known as one would whose secret is wrong.
  void unknown(tcp::socket socket, const std::string& from, const Opening& opening) {
    refused(from, "there is no key " + opening.key);
    const net::Digest nobody = net::random_nonce();
    net::Credentials credentials{opening.name(),
                                 {reinterpret_cast<const char*>(nobody.data()), nobody.size()}};
    const auto protocol = socket.local_endpoint().protocol();
    net::Socket generic(io_);
    generic.assign(asio::generic::stream_protocol(protocol.family(), protocol.protocol()),
                   socket.release());
    asio::co_spawn(io_, turn_down(std::move(generic), std::move(credentials), from),
                   asio::detached);
  }

  asio::awaitable<void> turn_down(net::Socket socket, net::Credentials credentials,
                                  std::string from) {
    const auto peer = net::peer_of(socket, false);
    if (!peer) co_return;
    const auto handshake = std::make_shared<net::UnderWay>();
    const net::Strangers::Place place(strangers_, peer->address,
                                      [handshake] { handshake->drop(); });
    try {
      co_await net::authenticate_as_server(std::move(socket), std::move(credentials),
                                           net::ServerPolicy{true, kHandshake}, from, handshake);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // It knows, or is gone.
    }
  }

  void refused(const std::string& from, const std::string& why) override {
    ++refused_;
    audit_.refused_stranger({{"event", "refused"}, {"from", from}, {"why", why}});
  }

  void short_of_files(const std::string& sentence) override {
    audit_.write({{"event", "short of files"}, {"why", "the service " + sentence}});
  }

  DoorCounts doors() const {
    DoorCounts doors{{"service", doorway_.turned_away()},
                     {"unknown key", strangers_.turned_away()}};
    if (metrics_) doors["metrics"] = metrics_->turned_away();
    return doors;
  }

  UserWorker& worker_of(const std::string& user) {
    auto& worker = workers_[user];
    if (!worker) {
      try {
        worker = std::make_unique<UserWorker>(
            io_, user, self_,
            UserWorker::Events{[this](json event) {
                                 if (event.value("proved", true)) {
                                   audit_.write(std::move(event));
                                 } else {
                                   audit_.refused_stranger(std::move(event));
                                 }
                               },
                               [this, user] { asio::post(io_, [this, user] { lost(user); }); }});
      } catch (const Failure&) {
        workers_.erase(user);
        throw;
      }
      worker->tell(keys_, config_.limits);
      if (draining_) worker->drain();
    }
    return *worker;
  }

  // Its connections are gone with it; those who come again get another.
  void lost(const std::string& user) {
    const auto found = workers_.find(user);
    if (found == workers_.end()) return;
    const UserCounts& gone = found->second->counts();
    UserCounts& past = past_[user];
    past.bytes += gone.bytes;
    past.refused += gone.refused;
    past.dropped += gone.dropped;
    past.throttled += gone.throttled;
    for (const auto& [key, of] : gone.keys) {
      past.keys[key].bytes += of.bytes;
      past.keys[key].refused += of.refused;
      past.keys[key].throttled += of.throttled;
    }
    workers_.erase(found);
    audit_.write({{"event", "process lost"}, {"user", user}});
  }

  void await_children() {
    children_.async_wait([this](const std::error_code& error, int) {
      if (error) return;
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      await_children();
    });
  }

  void await_signals() {
    signals_.async_wait([this](const std::error_code& error, int number) {
      if (error) return;
      if (number == SIGHUP) {
        reload();
      } else if (draining_) {
        return io_.stop();  // asked twice
      } else {
        drain();
      }
      await_signals();
    });
  }

  // The ports stay those of the start; what is wrong with a file changes nothing.
  void reload() {
    try {
      ServiceConfig anew = read_service_config(config_file_);
      audit_.reopen();
      const KeyFolder folder(anew.keys);
      take(folder.read());
      folder_ = folder;
      config_ = std::move(anew);
      for (const auto& [user, worker] : workers_) worker->tell(keys_, config_.limits);
      audit_.write({{"event", "reloaded"}, {"keys", keys_.size()}});
    } catch (const Failure& failure) {
      audit_.write({{"event", "not reloaded"}, {"why", failure.what()}});
    }
  }

  void drain() {
    draining_ = true;
    audit_.write({{"event", "drains"}, {"seconds", config_.drain}});
    for (const auto& [user, worker] : workers_) worker->drain();
    drained_.expires_after(std::chrono::seconds(config_.drain));
    drained_.async_wait([this](const std::error_code& error) {
      if (!error) io_.stop();
    });
  }

  bool empty() const {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const auto& of) { return of.second->idle(); });
  }

  // A wrong file gives no key; the audit names each once.
  void take(KeysRead all) {
    keys_ = std::move(all.keys);
    for (const std::string& why : all.wrong) {
      if (std::find(wrong_keys_.begin(), wrong_keys_.end(), why) == wrong_keys_.end()) {
        audit_.write({{"event", "key not read"}, {"why", why}});
      }
    }
    wrong_keys_ = std::move(all.wrong);
  }

  void refresh_keys() {
    try {
      if (std::string state = folder_.state(); state != key_state_) {
        take(folder_.read());
        key_state_ = std::move(state);
        for (const auto& [user, worker] : workers_) worker->tell(keys_, config_.limits);
        key_trouble_.clear();
      }
    } catch (const Failure& failure) {
      if (std::exchange(key_trouble_, failure.what()) != failure.what()) {
        audit_.write({{"event", "keys not read"}, {"why", failure.what()}});
      }
    }
  }

  // Connections of a key that is revoked last no longer than this.
  void look_at_keys() {
    if (draining_ && empty()) return io_.stop();
    refresh_keys();
    audit_.tick();
    look_.expires_after(kLookAtKeys);
    look_.async_wait([this](const std::error_code& error) {
      if (!error) look_at_keys();
    });
  }

  asio::io_context io_{1};
  std::string config_file_, self_;
  ServiceConfig config_;
  AuditLog audit_;
  KeyFolder folder_;
  std::vector<ServiceKey> keys_;
  std::vector<std::string> wrong_keys_;  // why
  std::string key_state_, key_trouble_;
  asio::signal_set signals_, children_;
  asio::steady_timer look_, drained_;
  bool draining_ = false;
  std::uint64_t refused_ = 0;
  net::Strangers strangers_;  // whose key is not known
  std::map<std::string, std::unique_ptr<UserWorker>> workers_;
  std::map<std::string, UserCounts> past_;  // of processes that are gone
  std::unique_ptr<MetricsServer> metrics_;
  Doorway doorway_;
};

}  // namespace

int run_service(const std::string& config_file, const std::string& self) {
  std::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_DUMPABLE, 0);  // it has keys in its memory
  raise_open_files();
  try {
    return Service(config_file, self).run();
  } catch (const Failure& failure) {
    std::cerr << "isthmusd serve: " << failure.what() << '\n';
    if (!failure.remedy().empty()) std::cerr << "  " << failure.remedy() << '\n';
    return 1;
  }
}

}  // namespace isthmus::daemon
