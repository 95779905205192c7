#include "net/door/service.hpp"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <stdexcept>
#include <utility>

#include "net/door/connect.hpp"
#include "net/host/address.hpp"
#include "net/host/resolve.hpp"
#include "net/stream/handshake.hpp"

namespace isthmus::net {
namespace {

constexpr std::chrono::milliseconds kAgain{200}, kMostAgain{2000};
constexpr std::chrono::milliseconds kLimit{5000};

// The service has answered: not now.
class NotNow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Number>
void put(unsigned char* at, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) at[i] = static_cast<unsigned char>(value >> 8 * i);
}

template <class Number>
Number get(const unsigned char* at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= static_cast<Number>(at[i]) << 8 * i;
  return value;
}

asio::awaitable<Socket> connected(const std::string& at, std::chrono::milliseconds limit) {
  const auto executor = co_await asio::this_coro::executor;
  const Address address = parse_address("tcp:" + at);
  std::error_code error;
  std::vector<asio::ip::tcp::endpoint> endpoints;
  try {
    endpoints = co_await resolve(address.host, address.port, limit);
  } catch (const std::runtime_error& failed) {
    throw std::runtime_error("the service " + at + " cannot be reached: " + failed.what());
  }
  for (const auto& endpoint : endpoints) {
    auto socket = std::make_shared<Socket>(executor);
    const Deadline deadline(executor, limit, [socket] { socket->close(); });
    co_await socket->async_connect(Socket::endpoint_type(endpoint),
                                   asio::redirect_error(asio::use_awaitable, error));
    if (error && deadline.passed()) error = asio::error::timed_out;
    if (error) continue;
    prepare(*socket, false);
    co_return std::move(*socket);
  }
  throw std::runtime_error("the service " + at + " cannot be reached: " + error.message() +
                           " (is it up, and is `service` of the [[relay]] right?)");
}

// Behind the handshake: the request, and the answer.
asio::awaitable<void> ask(Socket& socket, const Service& service, ServiceRequest request) {
  const auto bytes = encode(request);
  co_await asio::async_write(socket, asio::buffer(bytes), asio::use_awaitable);
  std::array<unsigned char, 2> head{};
  co_await asio::async_read(socket, asio::buffer(head), asio::use_awaitable);
  std::string sentence(head[1], '\0');
  co_await asio::async_read(socket, asio::buffer(sentence), asio::use_awaitable);
  if (head[0] == static_cast<unsigned char>(ServiceVerdict::Granted)) co_return;
  sentence = "the service " + service.at + " says: " + sentence;
  if (head[0] == static_cast<unsigned char>(ServiceVerdict::Refused)) throw Refusal(sentence);
  if (head[0] == static_cast<unsigned char>(ServiceVerdict::NotNow)) throw NotNow(sentence);
  throw std::runtime_error(sentence);
}

}  // namespace

Credentials service_credentials(const std::string& key, const std::string& secret,
                                const std::string& job) {
  const Digest digest = mac({key, secret}, "isthmus/1 service " + job);
  return {key + "/" + job, std::string(digest.begin(), digest.end())};
}

std::array<unsigned char, ServiceRequest::kSize> encode(const ServiceRequest& request) {
  std::array<unsigned char, ServiceRequest::kSize> bytes{};
  bytes[0] = static_cast<unsigned char>(request.verb);
  put(&bytes[4], request.node);
  put(&bytes[8], request.number);
  return bytes;
}

std::optional<ServiceRequest> decode_service_request(
    std::span<const unsigned char, ServiceRequest::kSize> bytes) {
  const bool padded = bytes[1] == 0 && bytes[2] == 0 && bytes[3] == 0;
  if (bytes[0] < 1 || bytes[0] > 3 || !padded) return std::nullopt;
  return ServiceRequest{static_cast<ServiceRequest::Verb>(bytes[0]),
                        get<core::NodeId>(bytes.data() + 4), get<std::uint64_t>(bytes.data() + 8)};
}

asio::awaitable<Socket> ask_service(Service service, ServiceRequest request,
                                    std::chrono::milliseconds limit) {
  const auto executor = co_await asio::this_coro::executor;
  Socket raw = co_await connected(service.at, limit);
  const std::string where = "the service " + service.at;
  std::shared_ptr<Stream> stream;
  try {
    stream = co_await authenticate_as_client(std::move(raw), service.credentials, Protection::Plain,
                                             where, limit);
  } catch (const WrongKey&) {
    const std::string key = service.credentials.job.substr(0, service.credentials.job.find('/'));
    throw Refusal(where + " does not take the key " + key +
                  ": it is none of its keys, or has another secret (ask whoever runs it for a "
                  "new one)");
  }
  // A call is answered when it has been taken.
  const Deadline deadline(executor, 3 * limit, [stream] { stream->close(); });
  try {
    co_await ask(stream->socket(), service, request);
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        where + (deadline.passed() ? " did not answer in time" : " closed the connection: ") +
        (deadline.passed() ? "" : error.code().message()));
  }
  co_return std::move(stream->socket());
}

asio::awaitable<std::shared_ptr<Stream>> call(std::vector<Service> services, core::NodeId peer,
                                              Credentials credentials, Protection protection,
                                              std::chrono::milliseconds limit) {
  std::string failures;
  bool refused = true;
  for (const Service& service : services) {
    try {
      Socket socket = co_await ask_service(service, {ServiceRequest::Verb::Call, peer, 0}, limit);
      co_return co_await authenticate_as_client(std::move(socket), credentials, protection,
                                                "the service " + service.at, limit);
    } catch (const std::exception& error) {
      refused = refused && dynamic_cast<const Refusal*>(&error) != nullptr;
      failures += (failures.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (refused) throw Refusal(failures);
  throw std::runtime_error(failures);
}

struct ServiceDoor::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, Service where, core::NodeId own, Called c, Trouble t)
      : io(context),
        service(std::move(where)),
        node(own),
        called(std::move(c)),
        trouble(std::move(t)),
        pause(context) {}

  asio::io_context& io;
  Service service;
  core::NodeId node;
  Called called;
  Trouble trouble;
  asio::steady_timer pause;
  std::shared_ptr<Socket> socket;
  std::string last;
  bool closed = false;

  static asio::awaitable<void> keep(std::shared_ptr<State> self) {
    auto wait = kAgain;
    while (!self->closed) {
      try {
        auto socket = std::make_shared<Socket>(co_await ask_service(
            self->service, {ServiceRequest::Verb::Await, self->node, 0}, kLimit));
        if (self->closed) co_return;
        self->socket = socket;
        self->last.clear();
        wait = kAgain;
        co_await listen(self, *socket);
      } catch (const std::exception& error) {
        if (!self->closed && self->trouble &&
            std::exchange(self->last, error.what()) != error.what())
          self->trouble(error.what());
      }
      self->socket.reset();
      if (self->closed) co_return;
      self->pause.expires_after(wait);
      std::error_code ignored;
      co_await self->pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      wait = std::min(2 * wait, kMostAgain);
    }
  }

  static asio::awaitable<void> listen(std::shared_ptr<State> self, Socket& socket) {
    while (!self->closed) {
      const Deadline deadline(self->io.get_executor(), 3 * kServiceBeat,
                              [kept = self->socket] { kept->close(); });
      std::array<unsigned char, 8> bytes{};
      co_await asio::async_read(socket, asio::buffer(bytes), asio::use_awaitable);
      const auto number = get<std::uint64_t>(bytes.data());
      if (number != 0) asio::co_spawn(self->io, take(self, number), asio::detached);
    }
  }

  // The caller waits meanwhile, so it opens a connection again if that is lost before the answer.
  static asio::awaitable<void> take(std::shared_ptr<State> self, std::uint64_t number) {
    // Read after waits, which the analyzer does not follow.
    // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores)
    const auto begin = std::chrono::steady_clock::now();
    std::string last;
    for (asio::steady_timer again(self->io);;) {
      try {
        Socket socket = co_await ask_service(
            self->service, {ServiceRequest::Verb::Take, self->node, number}, kLimit);
        if (!self->closed) self->called(std::move(socket), "the service " + self->service.at);
        co_return;
      } catch (const std::exception& error) {
        last = error.what();
        if (dynamic_cast<const NotNow*>(&error) != nullptr) break;  // the caller tries again
        if (dynamic_cast<const Refusal*>(&error) != nullptr) break;
      }
      if (self->closed || std::chrono::steady_clock::now() - begin > kServiceCall) break;
      again.expires_after(kAgain);
      co_await again.async_wait(asio::use_awaitable);
    }
    if (!self->closed && self->trouble) self->trouble(last);
  }
};

ServiceDoor::ServiceDoor(asio::io_context& io, Service service, core::NodeId node, Called called,
                         Trouble trouble)
    : state_(std::make_shared<State>(io, std::move(service), node, std::move(called),
                                     std::move(trouble))) {
  asio::co_spawn(io, State::keep(state_), asio::detached);
}

ServiceDoor::~ServiceDoor() {
  state_->closed = true;
  state_->pause.cancel();
  std::error_code ignored;
  if (state_->socket) state_->socket->close(ignored);
}

}  // namespace isthmus::net
