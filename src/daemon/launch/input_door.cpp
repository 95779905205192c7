#include "daemon/launch/input_door.hpp"

#include <fcntl.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/v6_only.hpp>
#include <sstream>

#include "core/base/hex.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/log/log.hpp"
#include "daemon/log/rare_lines.hpp"
#include "net/door/accept_all.hpp"
#include "net/door/connect.hpp"
#include "net/door/host_addresses.hpp"
#include "net/door/strangers.hpp"
#include "net/host/address.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/peer.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;

const std::string kMark = "net;";
const std::string kName = "standard input";  // in place of the job's

std::string size_of(std::size_t size) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(size >> shift & 0xFF);
  return bytes;
}

}  // namespace

std::string InputAddress::text() const {
  std::string text = kMark + core::to_hex(credentials.secret);
  for (const std::string& address : addresses) text += ";" + address;
  return text;
}

std::optional<InputAddress> InputAddress::parse(const std::string& text) {
  if (text.rfind(kMark, 0) != 0) return std::nullopt;
  std::istringstream words(text.substr(kMark.size()));
  std::string word;
  std::getline(words, word, ';');
  const auto secret = core::from_hex(word);
  if (!secret) return std::nullopt;
  InputAddress found{{}, {kName, *secret}};
  while (std::getline(words, word, ';')) found.addresses.push_back(word);
  return found;
}

struct InputDoor::State : std::enable_shared_from_this<State> {
  explicit State(asio::io_context& context) : acceptor(context) {}

  tcp::acceptor acceptor;
  net::Credentials credentials;
  net::Strangers strangers;
  log::RareLines<std::string> rare;
  std::shared_ptr<net::Stream> stream;
  std::string queue;
  std::function<void()> written;
  bool waiting = false;
  bool ending = false;
  bool closed = false;  // nothing is taken any more

  void accept() {
    const std::shared_ptr<tcp::acceptor> door(shared_from_this(), &acceptor);
    asio::co_spawn(acceptor.get_executor(),
                   net::accept_all(
                       door, [this](tcp::socket socket) { welcome(std::move(socket)); },
                       [](const std::string& sentence) {
                         log::warn("the agent, which waits for a rank to fetch its input, {}",
                                   sentence);
                       }),
                   asio::detached);
  }

  void welcome(tcp::socket socket) {
    auto peer = net::peer_of(socket);
    if (!peer) return;
    net::Socket generic(std::move(socket));
    net::prepare(generic, false);
    asio::co_spawn(acceptor.get_executor(),
                   hear(shared_from_this(), std::move(generic), std::move(*peer)), asio::detached);
  }

  static asio::awaitable<void> hear(std::shared_ptr<State> self, net::Socket newcomer,
                                    net::Peer peer) {
    const auto handshake = std::make_shared<net::UnderWay>();
    net::Strangers::Place place(self->strangers, peer.address, [handshake] { handshake->drop(); });
    try {
      self->serve(co_await net::authenticate_as_server(std::move(newcomer), self->credentials,
                                                       net::ServerPolicy{peer.loopback}, peer.host,
                                                       handshake));
    } catch (const std::exception& error) {
      // Anybody may knock; the rank itself tells why it is not let in.
      const auto line = self->rare.add(peer.host + ": " + error.what());
      if (line) log::debug("standard input is not given to {}", log::text_of(*line));
    }
  }

  void serve(std::shared_ptr<net::Stream> newcomer) {
    if (stream || closed) return newcomer->close();
    stream = std::move(newcomer);
    std::error_code ignored;
    acceptor.close(ignored);
    flush();
  }

  void flush() {
    if (!stream || waiting || closed) return;
    const std::size_t before = queue.size();
    std::size_t done = 0;
    net::Stream::Moved moved;
    do {
      const iovec part{queue.data() + done, queue.size() - done};
      moved = stream->write({&part, done < queue.size() ? 1U : 0U});
      done += moved.bytes;
    } while (!moved.error && moved.wait == net::Stream::Wait::None && done < queue.size());
    queue.erase(0, done);
    if (moved.error) return finish();  // nobody reads it any more
    if (moved.wait != net::Stream::Wait::None) {
      waiting = true;
      stream->wait(moved.wait, [self = shared_from_this()](const std::error_code& error) {
        self->waiting = false;
        if (error) return self->finish();
        self->flush();
      });
    }
    if (queue.size() < before && written) written();
  }

  void finish() {
    closed = true;
    queue.clear();
    std::error_code ignored;
    acceptor.close(ignored);
    if (stream) stream->close();
    if (written) written();
  }
};

InputDoor::InputDoor(asio::io_context& context) : state_(std::make_shared<State>(context)) {
  const net::Digest secret = net::random_nonce();
  state_->credentials = {kName, {secret.begin(), secret.end()}};
  std::error_code error;
  tcp::acceptor& acceptor = state_->acceptor;
  const tcp::endpoint everywhere(asio::ip::make_address(net::listening_host("::")), 0);
  acceptor.open(everywhere.protocol(), error);
  if (!error) ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error && everywhere.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(everywhere, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    throw Failure("standard input cannot be given to ranks on other hosts: no TCP port of " +
                      host_name() + " can be listened at: " + error.message(),
                  "Run the program with its input from /dev/null, and let it read a file.");
  }
  state_->written = [this] {
    if (on_written) on_written();
  };
  state_->accept();
}

InputDoor::~InputDoor() {
  state_->written = nullptr;
  state_->finish();
}

InputAddress InputDoor::address() const {
  const std::uint16_t port = state_->acceptor.local_endpoint().port();
  InputAddress address{{}, state_->credentials};
  address.addresses = net::host_addresses(port);
  address.addresses.push_back("tcp:" + host_name() + ":" + std::to_string(port));
  return address;
}

void InputDoor::write(const std::string& bytes) {
  if (state_->closed || state_->ending || bytes.empty()) return;
  state_->queue += size_of(bytes.size()) + bytes;
  state_->flush();
}

void InputDoor::close() {
  if (state_->closed || state_->ending) return;
  state_->ending = true;
  state_->queue += size_of(0);
  state_->flush();
}

std::size_t InputDoor::unwritten() const { return state_->queue.size(); }

}  // namespace isthmus::daemon
