#include "daemon/metrics/metrics_server.hpp"

#include <fmt/format.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <string_view>
#include <utility>

#include "daemon/host/failure.hpp"
#include "net/door/accept_all.hpp"
#include "net/host/address.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/peer.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;

constexpr std::size_t kMostRequest = 8192;
// A connection may take so long until its answer is written.
constexpr std::chrono::seconds kScrapeLimit{10};

std::string answer_to(const std::string& request, const std::function<std::string()>& text) {
  const bool head = request.starts_with("HEAD ");
  const std::string_view path = std::string_view(request).substr(head ? 5 : 4);
  const bool known = path.starts_with("/metrics ") || path.starts_with("/ ");
  const bool ours = known && (head || request.starts_with("GET "));
  const std::string body = ours ? text() : "Only GET /metrics is served here.\n";
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      ours ? "200 OK" : "404 Not Found", body.size(), head ? "" : body);
}

}  // namespace

struct MetricsServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, std::function<std::string()> source)
      : acceptor(io), text(std::move(source)) {}

  void welcome(tcp::socket socket) {
    const auto peer = net::peer_of(socket);
    if (!peer) return;
    asio::co_spawn(
        acceptor.get_executor(),
        serve(shared_from_this(), std::make_shared<tcp::socket>(std::move(socket)), peer->address),
        [](const std::exception_ptr&) {});  // it has gone, or its time was up
  }

  static asio::awaitable<void> serve(std::shared_ptr<State> self,
                                     std::shared_ptr<tcp::socket> socket, core::PeerAddress from) {
    const auto close = [socket] {
      std::error_code ignored;
      socket->close(ignored);
    };
    net::Strangers::Place place(self->strangers, from, close);
    const net::Deadline deadline(socket->get_executor(), kScrapeLimit, close);
    std::string request;
    co_await asio::async_read_until(*socket, asio::dynamic_buffer(request, kMostRequest),
                                    "\r\n\r\n", asio::use_awaitable);
    const std::string reply = answer_to(request, self->text);
    co_await asio::async_write(*socket, asio::buffer(reply), asio::use_awaitable);
    place.served();
  }

  tcp::acceptor acceptor;
  std::function<std::string()> text;
  net::Strangers strangers;
};

MetricsServer::MetricsServer(asio::io_context& io, const std::string& address,
                             std::function<std::string()> text,
                             std::function<void(const std::string&)> short_of_files)
    : state_(std::make_shared<State>(io, std::move(text))) {
  try {
    const net::Address wanted = net::parse_address(address);
    tcp::resolver resolver(io);
    const tcp::endpoint endpoint =
        *resolver.resolve(wanted.host, std::to_string(wanted.port), tcp::resolver::passive).begin();
    state_->acceptor.open(endpoint.protocol());
    state_->acceptor.set_option(asio::socket_base::reuse_address(true));
    state_->acceptor.bind(endpoint);
    state_->acceptor.listen();
  } catch (const std::exception& error) {
    throw Failure("The metrics cannot be served at " + address + ": " + error.what(),
                  "Give --metrics another port.");
  }
  asio::co_spawn(
      io,
      net::accept_all(
          std::shared_ptr<tcp::acceptor>(state_, &state_->acceptor),
          [state = state_.get()](tcp::socket socket) { state->welcome(std::move(socket)); },
          std::move(short_of_files)),
      asio::detached);
}

MetricsServer::~MetricsServer() {
  std::error_code ignored;
  state_->acceptor.close(ignored);
}

std::string MetricsServer::address() const {
  const auto endpoint = state_->acceptor.local_endpoint();
  return net::to_string({false, {}, endpoint.address().to_string(), endpoint.port()});
}

net::DoorCount MetricsServer::turned_away() const { return state_->strangers.turned_away(); }

}  // namespace isthmus::daemon
