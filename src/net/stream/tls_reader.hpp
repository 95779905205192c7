// Reads records from the socket of a TlsStream and decrypts them where they are.
#pragma once

#include <optional>
#include <span>
#include <system_error>

#include "net/stream/stream.hpp"
#include "net/stream/tls_buffer.hpp"
#include "net/stream/tls_fault.hpp"
#include "net/stream/tls_records.hpp"
#include "net/stream/tls_writer.hpp"

namespace isthmus::net {

class TlsReader {
 public:
  /// For a socket and a writer that outlive it. The writer answers the peer.
  TlsReader(Socket& socket, TlsWriter& writer) : socket_(socket), writer_(writer) {}

  /// Before all else, these are made.
  std::optional<TlsRecords>& opens() { return opens_; }

  /// As Stream::read. No byte of a record is read before its tag is checked. An error, once read,
  /// is read again.
  Stream::Moved read(std::span<const iovec> into);
  std::size_t memory() const { return in_.data.size(); }

 private:
  Stream::Moved receive();
  void open_next(std::size_t size);
  void fail(TlsFault fault, std::uint8_t alert);

  Socket& socket_;
  TlsWriter& writer_;
  std::optional<TlsRecords> opens_;
  TlsBuffer in_;                // encrypted
  std::span<std::byte> plain_;  // the rest of a record that has been opened, in in_
  std::error_code error_;       // behind the bytes in plain_
  unsigned idle_ = 0;           // records since the last with data
  bool filled_ = true;          // the last read of the socket found more than in_ had room for
  bool drained_ = false;        // it took all that there was
};

}  // namespace isthmus::net
