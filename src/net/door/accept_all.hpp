// A TCP door takes connections for as long as it is open, whatever fails meanwhile.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace isthmus::net {

/// After a failure to accept a door waits for so long. The connection waits in the kernel.
inline constexpr std::chrono::milliseconds kAcceptAgain{100};

/// The sentence for the owner of a door that could not accept because the process has as many files
/// open as it may. Empty if another reason made it fail.
std::optional<std::string> short_of_files(const std::error_code& error);

/// Gives each connection to `welcome` until `door` is closed. Calls `short_of` once, with the
/// sentence of short_of_files. Spawned on the thread of the door.
asio::awaitable<void> accept_all(std::shared_ptr<asio::ip::tcp::acceptor> door,
                                 std::function<void(asio::ip::tcp::socket)> welcome,
                                 std::function<void(const std::string& sentence)> short_of);

}  // namespace isthmus::net
