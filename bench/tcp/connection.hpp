// TCP connections with bounded waits, plain or with TLS; errors throw std::runtime_error with a
// sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tcp/tls.hpp"

namespace isthmus::tcpbench {

/// The kernel's figures of a connection; zeros if unknown.
struct PathFacts {
  std::uint32_t mtu = 0;            ///< of the path, in bytes
  std::uint32_t segment = 0;        ///< payload of a packet, in bytes
  std::uint32_t retransmitted = 0;  ///< packets, so far
};

/// A stream with TCP_NODELAY and otherwise the kernel's own settings.
class Connection {
 public:
  explicit Connection(int fd);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  /// Encrypts all bytes from now on. Both ends call it with the same token; `server` at one. One
  /// thread at a time may then use the connection.
  void encrypt(bool server, const std::string& token);
  bool encrypted() const { return tls_ != nullptr; }

  /// Both give up when nothing moves for a minute.
  void send(const void* data, std::size_t size) const;
  void receive(void* data, std::size_t size) const;
  /// As receive, into no memory of the caller's.
  void drop(std::uint64_t size) const;
  PathFacts facts() const;

 private:
  std::size_t receive_some(char* bytes, std::size_t size) const;

  int fd_;
  std::unique_ptr<Tls> tls_;
};

/// Tries all addresses of the host; gives up after `seconds`.
Connection connect_to(const std::string& host, const std::string& port, int seconds);

class Listener {
 public:
  /// Port 0 is any.
  Listener(const std::string& host, const std::string& port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const;
  /// Throws without a connection within `seconds`, or when `hangup` (a descriptor) ends before.
  Connection accept(int seconds, int hangup) const;

 private:
  int fd_ = -1;
};

}  // namespace isthmus::tcpbench
