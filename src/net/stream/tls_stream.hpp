// A stream inside TLS 1.3. OpenSSL makes the handshake (tls_handshake.hpp). The records behind it
// are ours, so that bytes are copied less (docs/decisions/0007-tls-without-asio-ssl.md). Several
// records are written at a time.
#pragma once

#include <openssl/ssl.h>

#include <asio/awaitable.hpp>
#include <asio/ssl/context.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "net/stream/stream.hpp"
#include "net/stream/tls_fault.hpp"
#include "net/stream/tls_handshake.hpp"
#include "net/stream/tls_records.hpp"

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
  std::size_t memory() const { return in_.data.size() + out_.data.size(); }

  /// After the handshake. No byte of a record is read before its tag is checked. An error, once
  /// read, is read again.
  Moved read(std::span<const iovec> into) override;
  Moved write(std::span<const iovec> from) override;

 private:
  /// Bytes of `data` that have not been used.
  struct Buffer {
    std::vector<std::byte> data;
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
    std::span<std::byte> bytes() { return std::span(data).subspan(begin, size()); }
    void compact();
    /// Room for this many bytes behind them.
    std::byte* room(std::size_t bytes);
    /// It is empty, and has held this many bytes. Gives memory back after many small uses in a row.
    void used(std::size_t bytes);
    unsigned small = 0;  // uses in a row
  };

  Moved send_records();
  Moved receive();
  void open_next(std::size_t size);
  void fail(TlsFault fault, std::uint8_t alert);
  bool seal_renewal();
  bool seal_next(std::span<const iovec>& from, std::size_t& offset, Moved& moved);

  TlsHandshake handshake_;
  std::optional<TlsRecords> seals_, opens_;  // once the handshake is over
  const std::uint64_t of_one_key_;
  Buffer out_;                  // encrypted, to be written
  Buffer in_;                   // encrypted
  std::span<std::byte> plain_;  // the rest of a record that has been opened, in in_
  std::error_code error_;       // behind the bytes in plain_
  bool asked_ = false;          // the peer wants another key from this end
  bool filled_ = true;          // the last read of the socket found more than in_ had room for
  bool drained_ = false;        // it took all that there was
};

}  // namespace isthmus::net
