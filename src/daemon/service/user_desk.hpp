// Serves the connections of one user's jobs: those that await calls, those that call, and those
// that take a call. On the thread of the io_context; lives as long as that.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/wipe.hpp"
#include "daemon/service/limits.hpp"
#include "daemon/service/opening.hpp"
#include "daemon/service/token_bucket.hpp"
#include "net/door/service.hpp"
#include "net/door/strangers.hpp"
#include "net/host/credentials.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::daemon {

struct UserTerms {
  struct Key {
    core::Secret secret;
    std::string revoked;  ///< a day; empty: it is good
    KeyLimits limits;
  };
  std::string user;
  std::map<std::string, Key> keys;
  UserLimits limits;
};

/// Counts of the connections with one key.
struct KeyCounts {
  std::size_t connections = 0;
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;
  double throttled = 0;  ///< seconds that they have waited for the key's rate
  bool operator==(const KeyCounts&) const = default;
};

struct UserCounts {
  std::size_t jobs = 0, connections = 0;
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;
  double throttled = 0;  ///< seconds that connections have waited for the rate
  std::map<std::string, KeyCounts> keys{};
  std::uint64_t dropped = 0;  ///< before they had proved to be the user's
  bool operator==(const UserCounts&) const = default;
};

class UserDesk {
 public:
  /// `audit` gets what users and administrators want to read later.
  UserDesk(asio::io_context& io, std::function<void(nlohmann::json event)> audit);

  /// The connections of keys that are good no more end.
  void learn(UserTerms terms);
  /// Stops accepting new jobs.
  void drain() { draining_ = true; }
  void serve(net::Socket socket, std::string from, Opening opening);
  UserCounts counts() const;
  /// The most connections at a time that have not proved whose they are.
  std::size_t most_strangers() const { return strangers_.most(); }

 private:
  struct Connection;
  struct Job;
  struct Call;
  struct Share;
  using ConnectionPtr = std::shared_ptr<Connection>;

  asio::awaitable<void> hear(std::shared_ptr<net::Socket> raw, ConnectionPtr mine);
  asio::awaitable<std::shared_ptr<net::Stream>> proved(net::Socket raw,
                                                       net::Credentials credentials,
                                                       std::string from);
  asio::awaitable<void> wait_for_calls(ConnectionPtr mine, core::NodeId node);
  asio::awaitable<void> call(ConnectionPtr mine, core::NodeId node);
  bool take(const ConnectionPtr& mine, std::uint64_t number);
  asio::awaitable<void> refuse(ConnectionPtr mine, net::ServiceVerdict verdict,
                               std::string sentence);
  std::optional<std::string> objection(const Opening& opening) const;
  Share& share(const std::string& key);
  std::optional<std::string> objection_to_job(const Opening& opening) const;
  ConnectionPtr awaiting(const Opening& opening, core::NodeId node) const;
  void beat();

  asio::io_context& io_;
  std::function<void(nlohmann::json)> audit_;
  UserTerms terms_;
  TokenBucket bucket_;
  asio::steady_timer beat_timer_;
  bool draining_ = false;
  net::Strangers strangers_;
  std::set<Connection*> connections_;                     // that have proved whose they are
  std::map<std::string, std::shared_ptr<Job>> jobs_;      // by Opening::name
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;  // that nobody has taken yet
  std::map<std::string, std::shared_ptr<Share>> shares_;  // by key, of those that have come
  std::uint64_t bytes_ = 0, refused_ = 0;
};

}  // namespace isthmus::daemon
