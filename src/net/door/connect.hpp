// Opening streams to other nodes.
#pragma once

#include <asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/world/world.hpp"
#include "net/host/credentials.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

/// Give it a name wherever a connection is awaited: gcc 12 destroys a temporary in a co_await
/// twice.
struct ConnectOptions {
  bool encrypt_loopback = false;          ///< encrypt also what does not leave the host
  bool encrypt_remote = true;             ///< encrypt what leaves the host
  std::string ruled_by = "the [[link]]";  ///< the table that says so, for messages
  std::size_t ring_bytes = 0;             ///< of each ring, where memory is shared (shm/), else 0
  core::Net net = core::Net::Tcp;         ///< whether bytes go by UCX in the end (ucx/)
  core::NodeId self = core::kNobody;      ///< who asks for that
  int segment = 0;                        ///< TCP's largest, both ways; 0: as the path has it
  std::chrono::milliseconds limit{5000};  ///< for connecting
  std::chrono::milliseconds handshake_limit = kHandshakeLimit;
};

/// Tries the addresses in turn. Throws std::runtime_error with one sentence per address tried;
/// net::Refusal (handshake.hpp) when trying again is of no use.
asio::awaitable<std::shared_ptr<Stream>> connect(std::vector<std::string> addresses,
                                                 Credentials credentials, ConnectOptions options);

/// Options that every stream's socket gets: closed on exec, no delay.
void prepare(Socket& socket, bool is_unix);

}  // namespace isthmus::net
