// A stream inside TLS 1.3. OpenSSL makes the handshake (tls_handshake.hpp). The records behind it
// are ours, so that bytes are copied less (docs/decisions/0007-tls-without-asio-ssl.md).
#pragma once

#include <openssl/ssl.h>

#include <asio/awaitable.hpp>
#include <asio/ssl/context.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

#include "net/stream/stream.hpp"
#include "net/stream/tls_handshake.hpp"
#include "net/stream/tls_reader.hpp"
#include "net/stream/tls_records.hpp"
#include "net/stream/tls_writer.hpp"

namespace isthmus::net {

class TlsStream final : public Stream {
 public:
  /// `of_one_key`: the most records that it writes with one key.
  TlsStream(Socket socket, asio::ssl::context context, bool server, std::string where,
            std::uint64_t of_one_key = TlsRecords::kOfOneKey);

  /// Is called once, before all else (TlsHandshake::run).
  asio::awaitable<std::error_code> handshake();
  SSL* ssl() { return handshake_.ssl(); }
  /// The bytes of its buffers.
  std::size_t memory() const { return reader_.memory() + writer_.memory(); }

  /// After the handshake.
  Moved read(std::span<const iovec> into) override { return reader_.read(into); }
  Moved write(std::span<const iovec> from) override { return writer_.write(from); }

 private:
  TlsHandshake handshake_;
  TlsWriter writer_;
  TlsReader reader_;
};

}  // namespace isthmus::net
