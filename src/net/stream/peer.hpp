// The origin of a connection of a door: for its place there (core/base/admission.hpp), and for
// messages.
#pragma once

#include <asio/ip/tcp.hpp>
#include <optional>
#include <string>

#include "core/base/admission.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

struct Peer {
  core::PeerAddress address;  ///< over a unix socket one that stands for the user of the other end
  std::string host;           ///< the address alone; over a unix socket empty
  std::string where;          ///< as messages show it
  bool loopback = true;       ///< of this host
};

/// Returns the peer of an accepted socket, or nothing if the peer is gone already.
std::optional<Peer> peer_of(const Socket& socket, bool is_unix);
std::optional<Peer> peer_of(const asio::ip::tcp::socket& socket);

}  // namespace isthmus::net
