#include "net/door/listener.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/basic_socket_acceptor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cstring>
#include <stdexcept>

#include "net/door/accept_all.hpp"
#include "net/door/connect.hpp"
#include "net/door/strangers.hpp"
#include "net/host/address.hpp"
#include "net/host/software.hpp"
#include "net/shm/leg.hpp"
#include "net/shm/ring_stream.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/last_words.hpp"
#include "net/stream/peer.hpp"
#include "net/stream/plain_stream.hpp"
#include "net/stream/stream_io.hpp"
#include "net/ucx/leg.hpp"
#include "net/ucx/said.hpp"

namespace isthmus::net {
namespace {

using asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

constexpr std::size_t kMaxHello = 512;

}  // namespace

struct Listener::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, ListenerConfig c, ListenerUser& its)
      : io(context),
        config(std::move(c)),
        user(its),
        by_tcp(config.strangers),
        by_unix(config.strangers) {}

  struct Door {
    Acceptor acceptor;
    Address address;
    asio::steady_timer pause;  // of this door alone, after it could not accept
    bool accepting = false;
  };

  asio::io_context& io;
  ListenerConfig config;
  ListenerUser& user;
  std::vector<std::shared_ptr<Door>> doors;
  Strangers by_tcp, by_unix;
  bool closed = false;
  bool told_short = false;

  void accept(const std::shared_ptr<Door>& door) {
    if (closed || door->accepting) return;
    door->accepting = true;
    door->acceptor.async_accept(
        [self = shared_from_this(), door](const std::error_code& error, Socket socket) {
          door->accepting = false;
          if (self->closed) return;
          if (error) {
            self->tell_short(error);
            // Again a little later.
            door->pause.expires_after(kAcceptAgain);
            door->pause.async_wait([self, door](const std::error_code& e) {
              if (!e) self->accept(door);
            });
            return;
          }
          self->welcome(std::move(socket), door->address);
          self->accept(door);
        });
  }

  void tell_short(const std::error_code& error) {
    auto sentence = short_of_files(error);
    if (!sentence || std::exchange(told_short, true)) return;
    if (error.value() == EMFILE) *sentence += ", or give the cluster more gateways";
    user.short_of_files(*sentence);
  }

  void welcome(Socket socket, const Address& at) {
    prepare(socket, at.is_unix);
    auto peer = peer_of(socket, at.is_unix);
    if (peer) receive(std::move(socket), at, std::move(*peer));
  }

  void receive(Socket socket, const Address& at, Peer peer) {
    asio::co_spawn(io, hear(shared_from_this(), std::move(socket), at, std::move(peer)),
                   asio::detached);
  }

  static asio::awaitable<void> hear(std::shared_ptr<State> self, Socket socket, Address at,
                                    Peer peer) {
    std::string failure;
    {
      const auto handshake = std::make_shared<UnderWay>();
      Strangers::Place place(at.is_unix ? self->by_unix : self->by_tcp, peer.address,
                             [handshake] { handshake->drop(); });
      try {
        co_await serve(self, std::move(socket), at, peer, handshake, place);
      } catch (const std::exception& e) {
        failure = e.what();
      }
      if (place.dropped()) {
        failure = peer.where + " was dropped: it had not proved who it is, and others came";
      }
    }
    if (!self->closed && !failure.empty()) self->user.rejected(failure);
  }

  static asio::awaitable<void> serve(std::shared_ptr<State> self, Socket socket, const Address& at,
                                     const Peer& peer, std::shared_ptr<UnderWay> handshake,
                                     Strangers::Place& place) {
    const auto executor = co_await asio::this_coro::executor;
    const auto& config = self->config;
    const ServerPolicy policy{peer.loopback || config.accept_plain, config.handshake_timeout};
    Newcomer newcomer;
    newcomer.is_unix = at.is_unix;
    newcomer.stream = co_await authenticate_as_server(std::move(socket), config.credentials, policy,
                                                      peer.where, std::move(handshake));
    place.proved();
    newcomer.exposed =
        !peer.loopback && dynamic_cast<const PlainStream*>(newcomer.stream.get()) != nullptr;
    const Deadline deadline(executor, policy.limit,
                            [stream = newcomer.stream] { stream->close(); });
    if (at.shares_memory) newcomer.stream = co_await RingStream::accept(newcomer.stream);
    co_await hello(newcomer, config);
    if (!self->closed) self->user.accepted(std::move(newcomer));
  }

  // Serves the request of the newcomer before its Hello.
  static asio::awaitable<std::shared_ptr<Stream>> other_leg(const Newcomer& newcomer,
                                                            const ListenerConfig& config,
                                                            std::span<const std::byte> offer) {
    const auto said = ucx::read_said(offer);
    if (newcomer.is_unix && said && said->says == ucx::Says::Memory) {
      co_return co_await shm::answer(newcomer.stream, config.self, config.handshake_timeout);
    }
    const ucx::Ends ends{config.self, config.handshake_timeout};
    co_return co_await ucx::answer(newcomer.stream, ends, offer);
  }

  // Reads the newcomer's Hello, before which it may ask for another leg, and refuses one of another
  // version.
  static asio::awaitable<void> hello(Newcomer& newcomer, const ListenerConfig& config) {
    const std::string where = newcomer.stream->where();
    FirstFrame frame = co_await read_frame(*newcomer.stream, ucx::kMostSaid);
    newcomer.node = frame.header.source;
    if (frame.header.kind == core::FrameKind::Leg) {
      newcomer.stream = co_await other_leg(newcomer, config, frame.body());
      newcomer.exposed |= newcomer.stream->exposed();
      frame = co_await read_frame(*newcomer.stream, kMaxHello);
      newcomer.node = frame.header.source;
    }
    std::string reason = "something else than a Hello";
    std::optional<core::Hello> said;
    if (frame.header.kind == core::FrameKind::Hello) {
      said = core::decode_hello(frame.body(), reason);
    }
    if (!said) throw std::runtime_error(where + " sent " + reason);
    newcomer.read = std::move(frame.read);
    newcomer.session = said->session;
    newcomer.resumes = said->peer_session;
    if (said->version != core::kProtocolVersion) {
      const std::string sentence =
          "this side speaks version " + std::to_string(core::kProtocolVersion) +
          " of the protocol (Isthmus " + config.software + "), the other version " +
          std::to_string(said->version) + " (Isthmus " + said->software +
          "): install the same release on both";
      refuse(newcomer.stream, config.self, newcomer.node, sentence);
      throw std::runtime_error(where + ": " + sentence);
    }
  }
};

Listener::Listener(asio::io_context& io, ListenerConfig config, ListenerUser& user)
    : state_(std::make_shared<State>(io, std::move(config), user)) {}

Listener::~Listener() { close(); }

namespace {

constexpr const char* kOtherPort =
    "Name a free port of this host in the grid file, a range of ports such as 7400-7419, or none "
    "for any.";

// Says why an address cannot be used, and the remedy.
[[noreturn]] void cannot_listen(const std::string& text, const Address& address,
                                const std::error_code& error) {
  std::string why = error.message();
  std::string remedy;
  if (address.is_unix) {
    const std::string folder = address.path.substr(0, address.path.rfind('/'));
    remedy = error == asio::error::address_in_use
                 ? "Remove the file if no gateway uses it."
                 : "Make room in " + folder +
                       " and see that it can be written, or name another folder by "
                       "XDG_RUNTIME_DIR.";
  } else if (error == asio::error::address_in_use) {
    why += " (another program has port " + std::to_string(address.port) + ")";
    remedy = kOtherPort;
  } else if (error.value() == EADDRNOTAVAIL) {
    why += " (this host has no such address)";
    remedy =
        "Name one of this host's own addresses by 'listen' in [[gateway]]; 'address' is the one by "
        "which others reach it.";
  } else if (error.value() == EACCES) {
    remedy = "Ports below 1024 are for root: name a higher one in the grid file.";
  } else if (error.value() == EMFILE) {
    remedy = "Raise the limit of open files (ulimit -n).";
  }
  throw ListenError("cannot listen on " + text + ": " + why, remedy);
}

Acceptor open_door(asio::io_context& io, const Socket::endpoint_type& endpoint, bool is_unix,
                   std::error_code& error) {
  Acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (error) return acceptor;
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  std::error_code ignored;
  if (!is_unix) acceptor.set_option(asio::socket_base::reuse_address(true), ignored);
  if (endpoint.protocol().family() == AF_INET6) {
    acceptor.set_option(asio::ip::v6_only(false), ignored);
  }
  acceptor.bind(endpoint, error);
  // Two that have bound the same port both succeed; only one of them listens.
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  return acceptor;
}

}  // namespace

std::string Listener::listen(const std::string& text) {
  Address address = parse_address(text);
  asio::io_context& io = state_->io;
  std::error_code error;
  Acceptor acceptor(io);
  if (address.is_unix) {
    acceptor = open_door(io, unix_endpoint(address), true, error);
    if (!error && !address.shares_memory) ::chmod(address.path.c_str(), 0600);
  } else {
    address.host = listening_host(address.host);
    tcp::resolver resolver(io);
    const auto found = resolver.resolve(address.host, "0", tcp::resolver::passive, error);
    if (error || found.empty()) {
      throw ListenError(
          "cannot listen on " + text + ": the host's name is not known (" + error.message() + ")",
          "Name one of this host's own addresses by 'address' or 'listen' in [[gateway]].");
    }
    tcp::endpoint endpoint = found.begin()->endpoint();
    const int first = address.port, last = std::max(first, int{address.last_port});
    for (int port = first; port <= last; ++port) {
      endpoint.port(static_cast<std::uint16_t>(port));
      acceptor = open_door(io, endpoint, false, error);
      address.port = endpoint.port();
      if (error != asio::error::address_in_use) break;
    }
    if (error == asio::error::address_in_use && last > first) {
      throw ListenError("cannot listen on " + text + ": all ports of the range are in use",
                        "Other jobs on the same grid file may have them: widen the range in the "
                        "grid file, or wait for one to end.");
    }
    address.last_port = 0;
  }
  if (error) cannot_listen(text, address, error);
  if (!address.is_unix && address.port == 0) {
    tcp::endpoint bound;
    const auto generic = acceptor.local_endpoint();
    bound.resize(generic.size());
    std::memcpy(bound.data(), generic.data(), generic.size());
    address.port = bound.port();
  }
  auto door = std::make_shared<State::Door>(
      State::Door{std::move(acceptor), address, asio::steady_timer(io)});
  state_->doors.push_back(door);
  state_->accept(door);
  return to_string(address);
}

void Listener::adopt(Socket socket, const std::string& where) {
  if (!state_->closed) state_->receive(std::move(socket), Address{}, Peer{{}, {}, where, false});
}

DoorCount Listener::turned_away() const {
  return state_->by_tcp.turned_away() + state_->by_unix.turned_away();
}

void Listener::close() {
  if (state_->closed) return;
  state_->closed = true;
  for (const auto& door : state_->doors) {
    std::error_code ignored;
    door->pause.cancel();
    door->acceptor.close(ignored);
    if (door->address.is_unix && !door->address.shares_memory) {
      ::unlink(door->address.path.c_str());
    }
  }
  state_->doors.clear();
}

}  // namespace isthmus::net
