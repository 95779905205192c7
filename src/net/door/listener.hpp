// Accepts streams: authenticates them and hears who they are, then hands them over.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/admission.hpp"
#include "core/conduit/conduit.hpp"
#include "core/wire/wire.hpp"
#include "net/door/strangers.hpp"
#include "net/host/credentials.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

/// An address at which nothing can listen; `remedy` is what to do.
class ListenError : public std::runtime_error {
 public:
  ListenError(const std::string& sentence, std::string remedy)
      : std::runtime_error(sentence), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

struct ListenerConfig {
  core::NodeId self = core::kNobody;
  std::string software;
  Credentials credentials;
  bool accept_plain = false;  ///< unencrypted TCP from other hosts
  std::chrono::milliseconds handshake_timeout = kHandshakeLimit;
  core::Admission::Limits strangers{};  ///< handshakes under way; unix sockets count apart
};

class ListenerUser;

class Listener {
 public:
  struct Newcomer {
    std::shared_ptr<Stream> stream;
    core::NodeId node = core::kNobody;  ///< as it says of itself
    std::uint64_t session = 0;          ///< of its conduit
    std::uint64_t resumes = 0;          ///< the session here that it knows; 0: it begins
    bool is_unix = false;
    bool exposed = false;         ///< unencrypted, and from another host or by UCX
    std::vector<std::byte> read;  ///< all read so far: its Hello, and what followed
  };

  /// The user outlives this object, or the call of close().
  Listener(asio::io_context& io, ListenerConfig config, ListenerUser& user);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Returns the address with the port filled in; of "tcp:HOST:FIRST-LAST" the first that is free.
  /// "tcp:[::]:PORT" takes connections by IPv6 and by IPv4. On a host without IPv6 it is 0.0.0.0.
  /// Throws ListenError.
  std::string listen(const std::string& address);
  /// Serves a connection from another host that came by a service, as those that come by a port.
  void adopt(Socket socket, const std::string& where);
  /// Connections that ended before they had proved anything.
  DoorCount turned_away() const;
  /// Stops accepting and drops the handshakes under way; removes unix sockets.
  void close();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Hears from a Listener, on the thread of its io_context and never after its close(). A slot does
/// not block or throw. It may close the listener.
class ListenerUser {
 public:
  virtual void accepted(Listener::Newcomer newcomer) = 0;
  /// A newcomer was turned down, for the log. Not a fault: anybody may knock.
  virtual void rejected(const std::string& /*sentence*/) {}
  /// The process has too many open files to accept newcomers. The listener tries again by itself.
  /// Called once.
  virtual void short_of_files(const std::string& /*sentence*/) {}

 protected:
  ~ListenerUser() = default;
};

}  // namespace isthmus::net
