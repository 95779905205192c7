#include "daemon/service/user_desk.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <cstring>

#include "daemon/service/splice.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/peer.hpp"
#include "net/stream/plain_stream.hpp"

namespace isthmus::daemon {
namespace {

using net::ServiceVerdict;
using net::Socket;

constexpr std::chrono::seconds kFirstHandshake{5};

// A peer that vanishes silently is noticed within a minute.
void keep_alive(Socket& socket) {
  const int on = 1, idle = 30, interval = 10, count = 3;
  const int fd = socket.native_handle();
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// The little-endian number of a call, or 0. False: it cannot be sent now.
bool send_number(Socket& socket, std::uint64_t number) {
  std::array<unsigned char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(number >> 8 * i);
  }
  return ::send(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

asio::awaitable<std::error_code> answer(Socket& socket, ServiceVerdict verdict,
                                        const std::string& sentence) {
  std::string bytes{static_cast<char>(verdict)};
  bytes += static_cast<char>(std::min<std::size_t>(sentence.size(), 255));
  bytes += sentence.substr(0, 255);
  std::error_code error;
  co_await asio::async_write(socket, asio::buffer(bytes),
                             asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (number == 0) {
    const net::Digest nonce = net::random_nonce();
    std::memcpy(&number, nonce.data(), sizeof number);
  }
  return number;
}

std::string told(int connections) {
  return fmt::format("{} connection{}", connections, connections == 1 ? "" : "s");
}

}  // namespace

/// The common state of all connections with one key.
struct UserDesk::Share {
  explicit Share(asio::io_context& io) : bucket(io) {}
  TokenBucket bucket;
  std::size_t connections = 0;
  std::uint64_t bytes = 0, refused = 0;
};

struct UserDesk::Connection {
  Connection(UserDesk& desk, Opening of, std::string where)
      : socket(std::make_shared<Socket>(desk.io_)),
        opening(std::move(of)),
        from(std::move(where)),
        desk_(desk),
        share_(desk.share(opening.key)) {}
  ~Connection() {
    if (desk_.connections_.erase(this) > 0) --share_.connections;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::shared_ptr<Socket> socket;
  Opening opening;
  std::string from;

  void close() const {
    std::error_code ignored;
    socket->close(ignored);
  }

  Share& share() const { return share_; }
  /// It has proved whose it is: only then it counts against the limits of user and key.
  void count() {
    desk_.connections_.insert(this);
    ++share_.connections;
  }
  /// It, or its call, is not served.
  void count_refused() const {
    ++desk_.refused_;
    ++share_.refused;
  }

 private:
  UserDesk& desk_;
  Share& share_;
};

struct UserDesk::Job {
  Job(UserDesk& desk, Opening of) : desk_(desk), opening(std::move(of)) {}
  ~Job() {
    desk_.audit_(
        {{"event", "job ended"}, {"job", opening.job}, {"key", opening.key}, {"bytes", bytes}});
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  UserDesk& desk_;
  Opening opening;
  std::map<core::NodeId, ConnectionPtr> awaiting;
  std::uint64_t bytes = 0;
};

struct UserDesk::Call {
  explicit Call(asio::io_context& io) : answered(io) {}
  ConnectionPtr caller, taker;
  asio::steady_timer answered;
};

UserDesk::UserDesk(asio::io_context& io, std::function<void(nlohmann::json)> audit)
    : io_(io), audit_(std::move(audit)), bucket_(io), beat_timer_(io) {
  beat();
}

void UserDesk::learn(UserTerms terms) {
  terms_ = std::move(terms);
  bucket_.set_rate(terms_.limits.rate);
  for (const auto& [name, key] : terms_.keys) {
    if (key.limits.any() || shares_.contains(name)) share(name).bucket.set_rate(key.limits.rate);
  }
  std::map<std::string, int> ended;
  for (const Connection* connection : connections_) {
    const auto key = terms_.keys.find(connection->opening.key);
    if (key != terms_.keys.end() && key->second.revoked.empty()) continue;
    connection->close();
    ++ended[connection->opening.key];
  }
  for (const auto& [key, count] : ended) {
    audit_({{"event", "revoked"}, {"key", key}, {"connections", count}});
  }
}

UserCounts UserDesk::counts() const {
  UserCounts counts{jobs_.size(), connections_.size(), bytes_, refused_, bucket_.waited().count()};
  counts.dropped = strangers_.turned_away().dropped;
  for (const auto& [key, of] : shares_) {
    counts.keys[key] = {of->connections, of->bytes, of->refused, of->bucket.waited().count()};
  }
  return counts;
}

UserDesk::Share& UserDesk::share(const std::string& key) {
  auto& found = shares_[key];
  if (!found) {
    found = std::make_shared<Share>(io_);
    const auto known = terms_.keys.find(key);
    if (known != terms_.keys.end()) found->bucket.set_rate(known->second.limits.rate);
  }
  return *found;
}

void UserDesk::serve(Socket socket, std::string from, Opening opening) {
  auto mine = std::make_shared<Connection>(*this, std::move(opening), std::move(from));
  asio::co_spawn(io_, hear(std::make_shared<Socket>(std::move(socket)), std::move(mine)),
                 asio::detached);
}

// Why one that has proved whose it is cannot be served; empty if it can.
std::optional<std::string> UserDesk::objection(const Opening& opening) const {
  const auto key = terms_.keys.find(opening.key);
  if (key == terms_.keys.end()) return "the key " + opening.key + " is none of this service's";
  if (!key->second.revoked.empty()) {
    return fmt::format("the key {} of user {} was revoked on {}: ask whoever runs it for a new one",
                       opening.key, terms_.user, key->second.revoked);
  }
  if (connections_.size() > static_cast<std::size_t>(terms_.limits.connections)) {
    return fmt::format("user {} has {} here, as many as `connections` allows", terms_.user,
                       told(terms_.limits.connections));
  }
  const int most = key->second.limits.connections;
  const std::size_t has = shares_.at(opening.key)->connections;
  if (most > 0 && has > static_cast<std::size_t>(most)) {
    return fmt::format("the key {} of user {} has {} here, as many as its limit allows",
                       opening.key, terms_.user, told(most));
  }
  return {};
}

asio::awaitable<std::shared_ptr<net::Stream>> UserDesk::proved(Socket raw,
                                                               net::Credentials credentials,
                                                               std::string from) {
  const auto peer = net::peer_of(raw, false);
  if (!peer) throw std::runtime_error("the connection is already gone");
  const auto handshake = std::make_shared<net::UnderWay>();
  net::Strangers::Place place(strangers_, peer->address, [handshake] { handshake->drop(); });
  auto stream = co_await net::authenticate_as_server(std::move(raw), std::move(credentials),
                                                     net::ServerPolicy{true, kFirstHandshake}, from,
                                                     handshake);
  place.proved();
  co_return stream;
}

asio::awaitable<void> UserDesk::hear(std::shared_ptr<Socket> raw, ConnectionPtr mine) {
  const Opening& opening = mine->opening;
  try {
    const auto key = terms_.keys.find(opening.key);
    if (key == terms_.keys.end()) co_return;
    auto credentials = net::service_credentials(opening.key, key->second.secret, opening.job);
    keep_alive(*raw);
    const auto stream = co_await proved(std::move(*raw), std::move(credentials), mine->from);
    if (dynamic_cast<net::PlainStream*>(stream.get()) == nullptr) co_return;
    mine->count();
    *mine->socket = std::move(stream->socket());
    std::array<unsigned char, net::ServiceRequest::kSize> bytes{};
    {
      const net::Deadline deadline(io_.get_executor(), kFirstHandshake, [mine] { mine->close(); });
      co_await asio::async_read(*mine->socket, asio::buffer(bytes), asio::use_awaitable);
    }
    const auto request = net::decode_service_request(bytes);
    auto why = request ? objection(opening) : "the request is none of this version";
    using Verb = net::ServiceRequest::Verb;
    if (why) {
      co_await refuse(mine, ServiceVerdict::Refused, std::move(*why));
    } else if (request->verb == Verb::Await) {
      co_await wait_for_calls(mine, request->node);
    } else if (request->verb == Verb::Call) {
      co_await call(mine, request->node);
    } else if (!take(mine, request->number)) {
      co_await refuse(mine, ServiceVerdict::NotNow, "there is no such call any more");
    }
  } catch (const std::exception& error) {
    mine->count_refused();
    nlohmann::json event{
        {"event", "refused"}, {"from", mine->from}, {"key", opening.key}, {"why", error.what()}};
    if (!connections_.contains(mine.get())) event["proved"] = false;
    audit_(std::move(event));
  }
}

asio::awaitable<void> UserDesk::refuse(ConnectionPtr mine, ServiceVerdict verdict,
                                       std::string sentence) {
  mine->count_refused();
  if (verdict == ServiceVerdict::Refused) {
    audit_({{"event", "refused"},
            {"from", mine->from},
            {"key", mine->opening.key},
            {"job", mine->opening.job},
            {"why", sentence}});
  }
  co_await answer(*mine->socket, verdict, sentence);
}

// Why there can be no job of this name; empty where it is here, or may come.
std::optional<std::string> UserDesk::objection_to_job(const Opening& opening) const {
  if (jobs_.contains(opening.name())) return {};
  if (draining_) return "it is being shut down, and takes no new jobs";
  if (jobs_.size() < static_cast<std::size_t>(terms_.limits.jobs)) return {};
  return fmt::format("user {} has {} jobs here, as many as `jobs` allows", terms_.user,
                     jobs_.size());
}

asio::awaitable<void> UserDesk::wait_for_calls(ConnectionPtr mine, core::NodeId node) {
  if (auto why = objection_to_job(mine->opening)) {
    co_return co_await refuse(mine, ServiceVerdict::Refused, std::move(*why));
  }
  std::error_code error = co_await answer(*mine->socket, ServiceVerdict::Granted, "");
  if (error) co_return;
  auto& place = jobs_[mine->opening.name()];
  if (!place) {
    place = std::make_shared<Job>(*this, mine->opening);
    audit_({{"event", "job"},
            {"job", mine->opening.job},
            {"key", mine->opening.key},
            {"from", mine->from}});
  }
  const auto job = place;
  if (auto& before = job->awaiting[node]) before->close();
  job->awaiting[node] = mine;
  std::array<char, 1> nothing{};
  co_await mine->socket->async_receive(asio::buffer(nothing),
                                       asio::redirect_error(asio::use_awaitable, error));
  if (job->awaiting.at(node) != mine) co_return;
  job->awaiting.erase(node);
  if (job->awaiting.empty()) jobs_.erase(mine->opening.name());
}

UserDesk::ConnectionPtr UserDesk::awaiting(const Opening& opening, core::NodeId node) const {
  const auto job = jobs_.find(opening.name());
  if (job == jobs_.end()) return nullptr;
  const auto found = job->second->awaiting.find(node);
  return found == job->second->awaiting.end() ? nullptr : found->second;
}

asio::awaitable<void> UserDesk::call(ConnectionPtr mine, core::NodeId node) {
  const auto other = awaiting(mine->opening, node);
  if (auto why = objection_to_job(mine->opening)) {
    co_return co_await refuse(mine, ServiceVerdict::Refused, std::move(*why));
  }
  if (!other) {
    co_return co_await refuse(mine, ServiceVerdict::NotNow,
                              "the gateway at the other end awaits no calls there (yet)");
  }
  const auto job = jobs_.at(mine->opening.name());
  const std::uint64_t number = random_number();
  const auto call = std::make_shared<Call>(io_);
  call->caller = mine;
  calls_[number] = call;
  if (!send_number(*other->socket, number)) other->close();
  call->answered.expires_after(net::kServiceCall);
  std::error_code ignored;
  co_await call->answered.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  calls_.erase(number);
  if (!call->taker) {
    co_return co_await refuse(mine, ServiceVerdict::NotNow,
                              "the gateway at the other end did not take the call");
  }
  const std::error_code one = co_await answer(*mine->socket, ServiceVerdict::Granted, "");
  const std::error_code two = co_await answer(*call->taker->socket, ServiceVerdict::Granted, "");
  if (one || two) co_return;
  // Has a name: of an aggregate without one, awaited, gcc 12 destroys the members twice.
  const auto key = terms_.keys.find(mine->opening.key);
  const KeyLimits own = key == terms_.keys.end() ? KeyLimits{} : key->second.limits;
  Share& with = mine->share();
  const SpliceTerms terms{own.buffer(terms_.limits), bucket_, with.bucket,
                          [this, job, &with](std::size_t bytes) {
                            bytes_ += bytes;
                            with.bytes += bytes;
                            job->bytes += bytes;
                          }};
  co_await splice(mine->socket, call->taker->socket, terms);
}

// True: from here on the caller's coroutine has both.
bool UserDesk::take(const ConnectionPtr& mine, std::uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end() || found->second->taker ||
      found->second->caller->opening.name() != mine->opening.name()) {
    return false;
  }
  found->second->taker = mine;
  found->second->answered.cancel();
  return true;
}

// Tells connections that await calls that the service still runs.
void UserDesk::beat() {
  for (const auto& [name, job] : jobs_) {
    for (const auto& [node, connection] : job->awaiting) {
      if (!send_number(*connection->socket, 0)) connection->close();
    }
  }
  beat_timer_.expires_after(net::kServiceBeat);
  beat_timer_.async_wait([this](const std::error_code& error) {
    if (!error) beat();
  });
}

}  // namespace isthmus::daemon
