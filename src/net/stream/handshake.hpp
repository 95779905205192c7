// Turns a connected socket into an authenticated stream: by TLS if traffic leaves the host,
// otherwise by a challenge and response with HMAC. docs/protocol.md describes the exchange.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "net/host/credentials.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

/// The other end answered, and will not have us, or we it: trying again is of no use.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The handshake failed: the other end has another secret, or none of that name.
class WrongKey : public Refusal {
 public:
  using Refusal::Refusal;
};

/// The other end serves only encrypted streams. `ruled_by` is the table of the grid file whose
/// `encrypt` says what goes between the two.
class MustEncrypt : public Refusal {
 public:
  MustEncrypt(const std::string& where, const std::string& ruled_by)
      : Refusal(where + " serves only encrypted connections from other hosts; `encrypt` of " +
                ruled_by + " must be the same on both sides") {}
};

enum class Protection { Plain, Encrypted };

/// The time that either end gives the other. Ranks and gateways that share cores with many others
/// may be stopped for seconds. A limit of 5 s let such a stop end a run (2026-11).
inline constexpr std::chrono::milliseconds kHandshakeLimit{10'000};

/// Both throw Refusal, or std::runtime_error for what may pass, with a sentence; when `limit`
/// passes the socket is closed and the sentence says so. `where` is the other end's address.
asio::awaitable<std::shared_ptr<Stream>> authenticate_as_client(Socket socket,
                                                                Credentials credentials,
                                                                Protection protection,
                                                                std::string where,
                                                                std::chrono::milliseconds limit);

/// A handshake under way, which its door may drop.
class UnderWay {
 public:
  /// The stream that the handshake goes over from now on; closed at once if it has been dropped.
  void goes_over(const std::shared_ptr<Stream>& stream) {
    stream_ = stream;
    if (dropped_) stream->close();
  }
  void drop() {
    dropped_ = true;
    if (const auto stream = stream_.lock()) stream->close();
  }

 private:
  std::weak_ptr<Stream> stream_;
  bool dropped_ = false;
};

struct ServerPolicy {
  bool accept_plain = false;  ///< else only encrypted streams are served
  std::chrono::milliseconds limit = kHandshakeLimit;
};
/// `under_way`: by which the caller may drop it; null: nobody does.
asio::awaitable<std::shared_ptr<Stream>> authenticate_as_server(
    Socket socket, Credentials credentials, ServerPolicy policy, std::string where,
    std::shared_ptr<UnderWay> under_way = nullptr);

/// Closes a stream or socket when time is up, which ends whatever waits for it.
class Deadline {
 public:
  template <class Executor, class F>
  Deadline(const Executor& executor, std::chrono::milliseconds limit, F close)
      : timer_(executor, limit), passed_(std::make_shared<bool>(false)) {
    timer_.async_wait([passed = passed_, close = std::move(close)](const std::error_code& error) {
      if (error) return;
      *passed = true;
      close();
    });
  }
  bool passed() const { return *passed_; }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> passed_;
};

/// A number for ConduitConfig::session.
std::uint64_t random_session();

}  // namespace isthmus::net
