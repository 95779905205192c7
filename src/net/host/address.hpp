// Where a node listens: "unix:/path", "tcp:host:port", "tcp:[::1]:port"; or at one of
// several ports: "tcp:host:first-last"; or where processes of this host get shared memory:
// "shm:name".
#pragma once

#include <asio/local/stream_protocol.hpp>
#include <cstdint>
#include <string>

namespace isthmus::net {

struct Address {
  bool is_unix = false;
  std::string path;  ///< unix: of the file, or the name
  std::string host;  ///< tcp; a name or a numeric address without brackets
  std::uint16_t port = 0;
  std::uint16_t last_port = 0;  ///< of a range that begins at `port`; 0: no range
  bool shares_memory = false;   ///< unix without a file: memory is given over the socket
};

/// Throws std::invalid_argument with a sentence that names the text and the allowed forms.
Address parse_address(const std::string& text);
std::string to_string(const Address& address);
/// The host at which [::] listens: 0.0.0.0 where the system has no IPv6. Others are as they were.
std::string listening_host(const std::string& host);
/// Of a unix socket.
asio::local::stream_protocol::endpoint unix_endpoint(const Address& address);

}  // namespace isthmus::net
