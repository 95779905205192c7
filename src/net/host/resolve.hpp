// The addresses of a host.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace isthmus::net {

/// In the resolver's order. Numeric addresses need no thread. Names are looked up in a thread of
/// the executor. Throws std::runtime_error with a sentence about `host`: its name is unknown, the
/// limit passed, or the system refuses the thread.
asio::awaitable<std::vector<asio::ip::tcp::endpoint>> resolve(std::string host, std::uint16_t port,
                                                              std::chrono::milliseconds limit);

}  // namespace isthmus::net
