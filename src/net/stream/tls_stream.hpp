// A stream inside TLS. OpenSSL works on the socket through buffers of ours. Records are written
// several at a time, and a full socket never leaves OpenSSL in the middle of a record.
#pragma once

#include <openssl/ssl.h>

#include <asio/awaitable.hpp>
#include <asio/ssl/context.hpp>
#include <vector>

#include "net/stream/stream.hpp"

namespace isthmus::net {

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, asio::ssl::context context, bool server, std::string where);
  ~TlsStream() override;

  /// Errors of TLS are of asio's SSL category, others of the system's.
  asio::awaitable<std::error_code> handshake();
  SSL* ssl() { return ssl_; }

  Moved read(std::span<const iovec> into) override;
  Moved write(std::span<const iovec> from) override;

 private:
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* done);
  static int bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* done);
  static long bio_control(BIO* bio, int command, long number, void* pointer);

  /// Writes records to the socket. The rest waits for Writable.
  Moved send_records();
  bool encrypt(std::span<const std::byte> bytes, Moved& moved);
  std::error_code failure(int result);

  asio::ssl::context context_;
  SSL* ssl_;
  std::vector<std::byte> records_;  // encrypted, to be written from records_sent_ on
  std::size_t records_sent_ = 0;
  int socket_error_ = 0;  // of the last read of the socket; 0 with socket_ended_: end of file
  bool socket_ended_ = false;
  bool socket_drained_ = false;  // its last read took all that it had
};

}  // namespace isthmus::net
