// A stream inside TLS 1.3. OpenSSL makes the handshake. The records behind it are ours, so that
// each byte is encrypted from its place and decrypted to its place
// (docs/decisions/0007-tls-without-asio-ssl.md). Several records are written at a time.
#pragma once

#include <openssl/ssl.h>

#include <asio/awaitable.hpp>
#include <asio/ssl/context.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "net/stream/stream.hpp"
#include "net/stream/tls_records.hpp"

namespace isthmus::net {

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, asio::ssl::context context, bool server, std::string where);
  ~TlsStream() override;

  /// Errors of TLS are of asio's SSL category, others of the system's.
  asio::awaitable<std::error_code> handshake();
  SSL* ssl() { return ssl_; }

  /// After the handshake.
  Moved read(std::span<const iovec> into) override;
  Moved write(std::span<const iovec> from) override;

 private:
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* done);
  static int bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* done);
  static long bio_control(BIO* bio, int command, long number, void* pointer);
  static void log_key(const SSL* ssl, const char* line);

  /// Bytes of `data` that have not been used.
  struct Buffer {
    std::vector<std::byte> data;
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
    void compact();
    /// Room for this many bytes behind them.
    std::byte* room(std::size_t bytes);
  };

  std::error_code begin_records();
  std::error_code failure(int result);
  Moved send_records();
  Moved receive();
  std::span<std::byte> next_record() const;
  bool seal_next(std::span<const iovec>& from, std::size_t& offset, Moved& moved);

  asio::ssl::context context_;
  SSL* ssl_;
  std::optional<TlsRecords::Secret> client_, server_;  // until the handshake is over
  std::optional<TlsRecords> seals_, opens_;
  Buffer out_;            // encrypted, to be written
  Buffer in_;             // encrypted
  Buffer plain_;          // only its bounds: the rest of a record that has been opened, in in_
  bool bad_ = false;      // a record could not be opened
  bool ended_ = false;    // the peer has closed
  bool filled_ = true;    // the last read of the socket found more than in_ had room for
  bool drained_ = false;  // it took all that there was
  int socket_error_ = 0;  // of the handshake's last read; 0 with socket_ended_: end of file
  bool socket_ended_ = false;
};

}  // namespace isthmus::net
