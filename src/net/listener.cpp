#include "net/listener.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/basic_socket_acceptor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <cstring>
#include <stdexcept>

#include "net/address.hpp"
#include "net/connect.hpp"
#include "net/handshake.hpp"

namespace isthmus::net {
namespace {

using asio::ip::tcp;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

constexpr std::size_t kMaxHello = 512;

// At least one byte, or throws.
asio::awaitable<std::size_t> read_some(Stream& stream, std::span<std::byte> into) {
  const iovec part{into.data(), into.size()};
  while (true) {
    const Stream::Moved moved = stream.read({&part, 1});
    if (moved.error) throw std::system_error(moved.error);
    if (moved.bytes > 0) co_return moved.bytes;
    if (moved.wait == Stream::Wait::Readable) {
      co_await stream.socket().async_wait(Socket::wait_read, asio::use_awaitable);
    }
  }
}

std::string describe(const Socket& socket, bool is_unix, bool& loopback) {
  loopback = true;
  if (is_unix) return "a process on this host";
  std::error_code error;
  const auto generic = socket.remote_endpoint(error);
  if (error) return "a connection that is already gone";
  tcp::endpoint endpoint;
  endpoint.resize(generic.size());
  std::memcpy(endpoint.data(), generic.data(), generic.size());
  // A socket for both kinds of addresses shows those of the older kind in the newer one's form.
  asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  loopback = address.is_loopback();
  return to_string(Address{false, {}, address.to_string(), endpoint.port()});
}

std::string reason(const std::error_code& error, const Address& address) {
  if (error == asio::error::address_in_use && !address.is_unix) {
    return " (another program has port " + std::to_string(address.port) + ")";
  }
  return error.value() == EADDRNOTAVAIL ? " (this host has no such address)" : "";
}

std::string remedy(const std::error_code& error, const Address& address) {
  if (address.is_unix) return "The folder for sockets is in $XDG_RUNTIME_DIR, else in /tmp.";
  if (error == asio::error::address_in_use) {
    return "Name a free port of this host in the grid file, or port 0 for any.";
  }
  if (error.value() == EADDRNOTAVAIL) {
    return "Name an address of this host: 'listen' in [[gateway]], where 'address' is translated "
           "on "
           "the way.";
  }
  if (error.value() == EACCES) return "Name a port from 1024 on, which needs no privilege.";
  return {};
}

}  // namespace

struct Listener::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, ListenerConfig c, Accepted a, Rejected r)
      : io(context), config(std::move(c)), accepted(std::move(a)), rejected(std::move(r)) {}

  struct Door {
    Acceptor acceptor;
    bool is_unix;
    std::string path;
    bool accepting = false;
  };

  asio::io_context& io;
  ListenerConfig config;
  Accepted accepted;
  Rejected rejected;
  std::vector<std::shared_ptr<Door>> doors;
  std::size_t under_way = 0;
  bool closed = false;
  asio::steady_timer pause{io};

  void accept(const std::shared_ptr<Door>& door) {
    if (closed || door->accepting || under_way >= config.half_open) return;
    door->accepting = true;
    door->acceptor.async_accept(
        [self = shared_from_this(), door](const std::error_code& error, Socket socket) {
          door->accepting = false;
          if (self->closed) return;
          if (error) {
            // Such as too many open files: try again a little later.
            self->pause.expires_after(std::chrono::milliseconds(100));
            self->pause.async_wait([self, door](const std::error_code& e) {
              if (!e) self->accept(door);
            });
            return;
          }
          self->welcome(std::move(socket), door->is_unix);
          self->accept(door);
        });
  }

  void welcome(Socket socket, bool is_unix) {
    ++under_way;
    prepare(socket, is_unix);
    bool loopback = false;
    std::string where = describe(socket, is_unix, loopback);
    asio::co_spawn(io,
                   hear(shared_from_this(), std::move(socket), is_unix, loopback, std::move(where)),
                   asio::detached);
  }

  static asio::awaitable<void> hear(std::shared_ptr<State> self, Socket socket, bool is_unix,
                                    bool loopback, std::string where) {
    std::string failure;
    try {
      const auto executor = co_await asio::this_coro::executor;
      const auto& config = self->config;
      ServerPolicy policy{loopback || config.accept_plain, config.handshake_timeout};
      Newcomer newcomer;
      newcomer.is_unix = is_unix;
      newcomer.stream =
          co_await authenticate_as_server(std::move(socket), config.credentials, policy, where);
      auto stream = newcomer.stream;
      const Deadline deadline(executor, policy.limit, [stream] { stream->close(); });
      co_await hello(newcomer, config);
      if (!self->closed) self->accepted(std::move(newcomer));
    } catch (const std::exception& e) {
      failure = e.what();
    }
    --self->under_way;
    if (self->closed) co_return;
    if (!failure.empty() && self->rejected) self->rejected(failure);
    for (const auto& door : self->doors) self->accept(door);
  }

  // Reads the newcomer's Hello, and refuses one of another version.
  static asio::awaitable<void> hello(Newcomer& newcomer, const ListenerConfig& config) {
    std::array<std::byte, core::kHeaderSize + kMaxHello> buffer;
    const std::string where = newcomer.stream->where();
    core::Decoded frame;
    while (frame.state == core::Decoded::State::Incomplete) {
      if (frame.size > buffer.size() || newcomer.read.size() >= buffer.size()) {
        throw std::runtime_error(where + " did not say Hello");
      }
      const std::size_t n = co_await read_some(
          *newcomer.stream, std::span(buffer).first(buffer.size() - newcomer.read.size()));
      newcomer.read.insert(newcomer.read.end(), buffer.begin(),
                           buffer.begin() + static_cast<std::ptrdiff_t>(n));
      frame = core::decode(newcomer.read);
    }
    newcomer.node = frame.header.source;
    std::string reason = frame.reason;
    std::optional<core::Hello> said;
    if (frame.state == core::Decoded::State::Frame) {
      if (frame.header.kind == core::FrameKind::Hello) {
        said = core::decode_hello(frame.body, reason);
      } else {
        reason = "something else than a Hello";
      }
    }
    if (!said) throw std::runtime_error(where + " sent " + reason);
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

Listener::Listener(asio::io_context& io, ListenerConfig config, Accepted accepted,
                   Rejected rejected)
    : state_(std::make_shared<State>(io, std::move(config), std::move(accepted),
                                     std::move(rejected))) {}

Listener::~Listener() { close(); }

std::string Listener::listen(const std::string& text) {
  Address address = parse_address(text);
  Socket::endpoint_type endpoint;
  std::error_code error;
  if (address.is_unix) {
    endpoint = asio::local::stream_protocol::endpoint(address.path);
  } else {
    tcp::resolver resolver(state_->io);
    const auto found =
        resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
    if (error || found.empty()) {
      throw CannotListen(
          "cannot listen on " + text + ": the host's name is not known (" + error.message() + ")",
          "Name this host as it knows itself, or by an address of its own: 'listen' "
          "in [[gateway]], where 'address' is for the others alone.");
    }
    endpoint = found.begin()->endpoint();
  }
  const auto check = [&] {
    if (!error) return;
    throw CannotListen("cannot listen on " + text + ": " + error.message() + reason(error, address),
                       remedy(error, address));
  };
  Acceptor acceptor(state_->io);
  acceptor.open(endpoint.protocol(), error);
  check();
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!address.is_unix) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  acceptor.bind(endpoint, error);
  check();
  if (address.is_unix) ::chmod(address.path.c_str(), 0600);
  acceptor.listen(asio::socket_base::max_listen_connections, error);
  check();
  if (!address.is_unix && address.port == 0) {
    tcp::endpoint bound;
    const auto generic = acceptor.local_endpoint();
    bound.resize(generic.size());
    std::memcpy(bound.data(), generic.data(), generic.size());
    address.port = bound.port();
  }
  auto door = std::make_shared<State::Door>(
      State::Door{std::move(acceptor), address.is_unix, address.path});
  state_->doors.push_back(door);
  state_->accept(door);
  return to_string(address);
}

void Listener::close() {
  if (state_->closed) return;
  state_->closed = true;
  state_->pause.cancel();
  for (const auto& door : state_->doors) {
    std::error_code ignored;
    door->acceptor.close(ignored);
    if (door->is_unix) ::unlink(door->path.c_str());
  }
  state_->doors.clear();
}

void refuse(const std::shared_ptr<Stream>& stream, core::NodeId self, core::NodeId peer,
            const std::string& sentence) {
  core::FrameHeader header;
  header.kind = core::FrameKind::Refuse;
  header.source = self;
  header.destination = peer;
  header.body_size = static_cast<std::uint32_t>(std::min<std::size_t>(sentence.size(), 1000));
  std::vector<std::byte> bytes(core::kHeaderSize + header.body_size);
  core::encode_header(header, bytes.data());
  std::memcpy(bytes.data() + core::kHeaderSize, sentence.data(), header.body_size);
  const iovec all{bytes.data(), bytes.size()};
  const auto moved = stream->write({&all, 1});
  if (moved.error || moved.wait == Stream::Wait::None) {
    stream->close();
    return;
  }
  stream->wait(moved.wait, [stream](const std::error_code&) {
    (void)stream->write({});  // what TLS still holds
    stream->close();
  });
}

}  // namespace isthmus::net
