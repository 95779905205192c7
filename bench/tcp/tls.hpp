// TLS over one connection as in a plain program: one thread, one record after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

using SSL = struct ssl_st;

namespace isthmus::tcpbench {

/// TLS with the suite of gateways and conduits. Throws std::runtime_error with a sentence. Not for
/// two threads at a time.
class Tls {
 public:
  /// Shakes hands; refuses an end with another token. `fd` stays the caller's.
  Tls(int fd, bool server, const std::string& token);

  void send(const char* bytes, std::size_t size);
  /// At least one byte, at most `size`.
  std::size_t receive(char* bytes, std::size_t size);

 private:
  struct Free {
    void operator()(SSL* ssl) const;
  };
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace isthmus::tcpbench
