#include "net/door/connect.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <stdexcept>

#include "core/base/time_text.hpp"
#include "net/host/address.hpp"
#include "net/host/resolve.hpp"
#include "net/shm/leg.hpp"
#include "net/shm/ring_stream.hpp"
#include "net/stream/handshake.hpp"
#include "net/ucx/leg.hpp"

namespace isthmus::net {
namespace {

using asio::ip::tcp;

std::string remedy(const std::error_code& error, std::chrono::milliseconds limit) {
  if (error == asio::error::timed_out) {
    return " (no answer within " + core::time_text(limit) +
           ": is the host up, or does a firewall drop what is sent to this port? Open it there, or "
           "say by 'address' and 'port' in [[gateway]] how others reach it)";
  }
  if (error.value() == EMFILE) {
    return " (this process has as many files open as it may; raise the limit, ulimit -n)";
  }
  if (error == asio::error::connection_refused) {
    return " (nothing listens there; is the gateway running, and is the port right?)";
  }
  if (error.value() == ENOENT) return " (the gateway's socket is gone; is the gateway running?)";
  if (error == asio::error::host_unreachable || error == asio::error::network_unreachable) {
    return " (there is no route from this host; give the gateway an address that can be reached)";
  }
  return "";
}

asio::awaitable<std::shared_ptr<Stream>> connect_one(std::string text, Credentials credentials,
                                                     ConnectOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  Address address;
  try {
    address = parse_address(text);
  } catch (const std::invalid_argument& e) {
    throw Refusal(e.what());
  }
  std::vector<std::pair<Socket::endpoint_type, Protection>> targets;
  std::error_code error;
  if (address.is_unix) {
    targets.emplace_back(unix_endpoint(address), Protection::Plain);
  } else {
    std::vector<tcp::endpoint> endpoints;
    try {
      endpoints = co_await resolve(address.host, address.port, options.limit);
    } catch (const std::runtime_error& failed) {
      throw std::runtime_error("cannot connect to " + text + ": " + failed.what());
    }
    for (const auto& endpoint : endpoints) {
      const bool encrypt =
          endpoint.address().is_loopback() ? options.encrypt_loopback : options.encrypt_remote;
      targets.emplace_back(endpoint, encrypt ? Protection::Encrypted : Protection::Plain);
    }
  }
  for (const auto& [endpoint, protection] : targets) {
    auto socket = std::make_shared<Socket>(executor);
    const Deadline deadline(executor, options.limit, [socket] { socket->close(); });
    if (options.segment > 0 && !address.is_unix) {
      socket->open(endpoint.protocol(), error);
      // Before it connects, because the first packet tells the other end.
      ::setsockopt(socket->native_handle(), IPPROTO_TCP, TCP_MAXSEG, &options.segment,
                   sizeof options.segment);
    }
    co_await socket->async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
    if (error && deadline.passed()) error = asio::error::timed_out;
    if (error) continue;
    prepare(*socket, address.is_unix);
    std::shared_ptr<Stream> stream;
    try {
      stream = co_await authenticate_as_client(std::move(*socket), credentials, protection, text,
                                               options.handshake_limit);
    } catch (const MustEncrypt&) {
      throw MustEncrypt(text, options.ruled_by);
    }
    if (address.shares_memory) co_return RingStream::offer(*stream, options.ring_bytes);
    if (address.is_unix && options.ring_bytes > 0 && options.net != core::Net::Ucx) {
      stream = co_await shm::ask(std::move(stream), options.self, options.ring_bytes,
                                 options.handshake_limit);
      if (stream->leg() == Stream::Leg::Memory) co_return stream;
    }
    if (options.net == core::Net::Tcp) co_return stream;
    const ucx::Ends ends{options.self, options.handshake_limit};
    co_return co_await ucx::ask(std::move(stream), ends, options.net == core::Net::Ucx);
  }
  throw std::runtime_error("cannot connect to " + text + ": " + error.message() +
                           remedy(error, options.limit));
}

}  // namespace

void prepare(Socket& socket, bool is_unix) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  if (is_unix) return;
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

asio::awaitable<std::shared_ptr<Stream>> connect(std::vector<std::string> addresses,
                                                 Credentials credentials, ConnectOptions options) {
  std::string failures;
  bool refused = false;
  for (const auto& address : addresses) {
    try {
      co_return co_await connect_one(address, credentials, options);
    } catch (const std::exception& e) {
      refused = refused || dynamic_cast<const Refusal*>(&e) != nullptr;
      failures += (failures.empty() ? "" : "; ") + std::string(e.what());
    }
  }
  if (refused) throw Refusal(failures);
  throw std::runtime_error(failures.empty() ? "no address is known" : failures);
}

}  // namespace isthmus::net
