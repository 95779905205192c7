#include "tcp/connection.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace isthmus::tcpbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr timeval kPatience{60, 0};

[[noreturn]] void fail(const std::string& what) {
  const char* why = errno == EAGAIN ? "nothing moved for a minute" : std::strerror(errno);
  throw std::runtime_error(what + ": " + why);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// An IPv6 address may have brackets, as in grid files.
Addresses resolve(const std::string& named, const std::string& port, int flags) {
  const bool bracketed = named.starts_with('[') && named.ends_with(']');
  const std::string host = bracketed ? named.substr(1, named.size() - 2) : named;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int status =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (status != 0) {
    throw std::runtime_error("cannot find the host \"" + host + "\": " + gai_strerror(status));
  }
  return {found, &freeaddrinfo};
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

bool try_connect(int fd, const addrinfo& address, Clock::time_point deadline) {
  // A connect is bounded by the time that sends are.
  const auto left = std::max(milliseconds_until(deadline), 1);
  const timeval limit{left / 1000, left % 1000 * 1000};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno == EINPROGRESS) errno = ETIMEDOUT;
  return false;
}

}  // namespace

Connection::Connection(int fd) : fd_(fd) {
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
}

Connection::Connection(Connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(tls_, other.tls_);
  return *this;
}

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

void Connection::encrypt(bool server, const std::string& token) {
  tls_ = std::make_unique<Tls>(fd_, server, token);
}

void Connection::send(const void* data, std::size_t size) const {
  auto bytes = static_cast<const char*>(data);
  if (tls_ && size > 0) {
    tls_->send(bytes, size);
    return;
  }
  while (size > 0) {
    const ssize_t count = ::send(fd_, bytes, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("cannot send");
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
}

std::size_t Connection::receive_some(char* bytes, std::size_t size) const {
  if (tls_) return tls_->receive(bytes, size);
  ssize_t count = 0;
  do {
    count = recv(fd_, bytes, size, 0);
  } while (count < 0 && errno == EINTR);
  if (count == 0) throw std::runtime_error("the other end has closed the connection");
  if (count < 0) fail("cannot receive");
  return static_cast<std::size_t>(count);
}

void Connection::receive(void* data, std::size_t size) const {
  auto bytes = static_cast<char*>(data);
  while (size > 0) {
    const std::size_t count = receive_some(bytes, size);
    bytes += count;
    size -= count;
  }
}

void Connection::drop(std::uint64_t size) const {
  std::vector<char> room(std::size_t{256} << 10);
  while (size > 0) {
    size -= receive_some(room.data(), std::min<std::uint64_t>(size, room.size()));
  }
}

PathFacts Connection::facts() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  return {info.tcpi_pmtu, info.tcpi_snd_mss, info.tcpi_total_retrans};
}

Connection connect_to(const std::string& host, const std::string& port, int seconds) {
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  const Addresses addresses = resolve(host, port, 0);
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    if (try_connect(fd, *address, deadline)) return Connection(fd);
    const int why = errno;
    close(fd);
    errno = why;
  }
  fail("cannot connect to " + host + " port " + port);
}

Listener::Listener(const std::string& host, const std::string& port) {
  const Addresses addresses = resolve(host, port, AI_PASSIVE);
  const addrinfo& address = *addresses;
  fd_ = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd_ < 0 || bind(fd_, address.ai_addr, address.ai_addrlen) != 0 || listen(fd_, 16) != 0) {
    const std::string why = std::strerror(errno);
    if (fd_ >= 0) close(fd_);
    throw std::runtime_error("cannot listen at " + host + " port " + port + ": " + why);
  }
}

Listener::~Listener() { close(fd_); }

int Listener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  const in_port_t port = address.ss_family == AF_INET6
                             ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                             : reinterpret_cast<sockaddr_in&>(address).sin_port;
  return ntohs(port);
}

Connection Listener::accept(int seconds, int hangup) const {
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  while (true) {
    std::array<pollfd, 2> wanted{{{fd_, POLLIN, 0}, {hangup, POLLIN, 0}}};
    const int ready = poll(wanted.data(), wanted.size(), milliseconds_until(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) throw std::runtime_error("nobody has connected");
    if (wanted[0].revents != 0) {
      const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      return Connection(fd);
    }
    char ignored = 0;
    if (read(hangup, &ignored, 1) <= 0) throw std::runtime_error("called off");
  }
}

}  // namespace isthmus::tcpbench
