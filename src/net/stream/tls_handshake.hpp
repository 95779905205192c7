// The handshake of TLS 1.3 by OpenSSL, which ends with the keys of the records behind it
// (docs/decisions/0007-tls-without-asio-ssl.md).
#pragma once

#include <openssl/ssl.h>

#include <asio/awaitable.hpp>
#include <asio/ssl/context.hpp>
#include <cstddef>
#include <optional>
#include <system_error>
#include <vector>

#include "net/stream/stream.hpp"
#include "net/stream/tls_records.hpp"

namespace isthmus::net {

/// For one socket, which outlives it. It reads no byte behind the handshake.
class TlsHandshake {
 public:
  /// Throws std::bad_alloc.
  TlsHandshake(Socket& socket, asio::ssl::context context, bool server);
  ~TlsHandshake();
  TlsHandshake(const TlsHandshake&) = delete;
  TlsHandshake& operator=(const TlsHandshake&) = delete;

  /// Is called once. Makes the records that this end seals, and those that it opens, unless there
  /// is an error. Both outlive the call. Errors of OpenSSL are of asio's SSL category, those of the
  /// records TlsFaults, others of the system.
  asio::awaitable<std::error_code> run(std::optional<TlsRecords>& seals,
                                       std::optional<TlsRecords>& opens);
  SSL* ssl() { return ssl_; }

 private:
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* done);
  static int bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* done);
  static long bio_control(BIO* bio, int command, long number, void* pointer);
  static void log_key(const SSL* ssl, const char* line);

  asio::awaitable<std::error_code> send();
  std::error_code failure(int result);
  std::error_code make_records(std::optional<TlsRecords>& seals, std::optional<TlsRecords>& opens);
  void forget_secrets();

  Socket& socket_;
  asio::ssl::context context_;
  SSL* ssl_;
  std::optional<TlsRecords::Secret> client_, server_;
  std::vector<std::byte> out_;  // to be sent
  int socket_error_ = 0;        // of the last read; 0 with socket_ended_: end of file
  bool socket_ended_ = false;
};

}  // namespace isthmus::net
