#include "daemon/service/doorway.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <string_view>
#include <vector>

#include "daemon/host/failure.hpp"
#include "net/door/accept_all.hpp"
#include "net/host/address.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/peer.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kLimit{5};
// After what says too little it looks again, each time later.
constexpr std::chrono::milliseconds kFirstLook{20}, kLastLook{500};
// One that finds no room tries again so soon: there is room as soon as a process has read.
constexpr std::chrono::milliseconds kNoRoom{10};

}  // namespace

struct Doorway::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, DoorwayUser& its) : io(context), user(its) {}

  asio::io_context& io;
  DoorwayUser& user;
  std::vector<std::shared_ptr<tcp::acceptor>> acceptors;
  net::Strangers strangers;
  bool closed = false;

  void welcome(tcp::socket socket) {
    const auto peer = net::peer_of(socket);
    if (!peer) return;
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    const std::string from = peer->where.substr(std::string_view("tcp:").size());
    if (!user.allowed(peer->host)) {
      strangers.refused();
      return user.refused(from, "its address is not of `allow`");
    }
    asio::co_spawn(io, hear(shared_from_this(), std::move(socket), peer->address, from),
                   asio::detached);
  }

  static asio::awaitable<void> hear(std::shared_ptr<State> self, tcp::socket own,
                                    core::PeerAddress address, std::string from) {
    const auto socket = std::make_shared<tcp::socket>(std::move(own));
    OpeningRead found;
    {
      const auto close = [socket] {
        std::error_code ignored;
        socket->close(ignored);
      };
      net::Strangers::Place place(self->strangers, address, close);
      try {
        const net::Deadline deadline(self->io.get_executor(), kLimit, close);
        found = co_await look(self->io, *socket);
        if (found.opening && co_await hand_over(*self, *socket, from, *found.opening)) {
          place.served();
        }
      } catch (const std::exception& error) {
        std::string why = found.opening ? "its user's process had no room for it in time"
                                        : std::string("it said too little: ") + error.what();
        if (place.dropped()) why = "it was dropped, since others came";
        found = {OpeningRead::State::Wrong, {}, std::move(why)};
      }
    }
    if (!self->closed && !found.opening) self->user.refused(from, found.why);
  }

  // It keeps its place until it is taken, and may be dropped before.
  static asio::awaitable<bool> hand_over(State& self, tcp::socket& socket, const std::string& from,
                                         const Opening& opening) {
    asio::steady_timer again(self.io);
    while (!self.closed && !self.user.named(socket, from, opening)) {
      again.expires_after(kNoRoom);
      co_await again.async_wait(asio::use_awaitable);
      if (!socket.is_open()) throw std::runtime_error("there was no room for it");
    }
    co_return !self.closed;
  }

  // The bytes stay for the process that serves the connection.
  static asio::awaitable<OpeningRead> look(asio::io_context& io, tcp::socket& socket) {
    for (auto pause = kFirstLook;; pause = std::min(2 * pause, kLastLook)) {
      std::array<unsigned char, kMostOpening> bytes{};
      const std::size_t size = co_await socket.async_receive(
          asio::buffer(bytes), asio::socket_base::message_peek, asio::use_awaitable);
      OpeningRead found = read_opening(std::span(bytes).first(size));
      if (found.state != OpeningRead::State::Incomplete) co_return found;
      asio::steady_timer more(io, pause);
      co_await more.async_wait(asio::use_awaitable);
    }
  }
};

Doorway::Doorway(asio::io_context& io, DoorwayUser& user)
    : state_(std::make_shared<State>(io, user)) {}

Doorway::~Doorway() {
  state_->closed = true;
  for (const auto& acceptor : state_->acceptors) {
    std::error_code ignored;
    acceptor->close(ignored);
  }
}

std::string Doorway::listen(const std::string& text) {
  net::Address address = net::parse_address(text);
  address.host = net::listening_host(address.host);
  auto acceptor = std::make_shared<tcp::acceptor>(state_->io);
  try {
    tcp::resolver resolver(state_->io);
    const tcp::endpoint endpoint =
        *resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive)
             .begin();
    acceptor->open(endpoint.protocol());
    ::fcntl(acceptor->native_handle(), F_SETFD, FD_CLOEXEC);
    acceptor->set_option(asio::socket_base::reuse_address(true));
    if (endpoint.address().is_v6()) acceptor->set_option(asio::ip::v6_only(false));
    acceptor->bind(endpoint);
    acceptor->listen();
  } catch (const std::system_error& error) {
    throw Failure("the service cannot listen on " + text + ": " + error.code().message(),
                  "Give `listen` a free port of an address of this host.");
  }
  address.port = acceptor->local_endpoint().port();
  state_->acceptors.push_back(acceptor);
  asio::co_spawn(
      state_->io,
      net::accept_all(
          acceptor, [state = state_](tcp::socket socket) { state->welcome(std::move(socket)); },
          [state = state_](const std::string& sentence) {
            if (!state->closed) state->user.short_of_files(sentence);
          }),
      asio::detached);
  return net::to_string(address);
}

net::DoorCount Doorway::turned_away() const { return state_->strangers.turned_away(); }

}  // namespace isthmus::daemon
