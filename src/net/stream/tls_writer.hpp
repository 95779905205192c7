// Encrypts what a TlsStream writes, several records at a time, and writes it to its socket.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "net/stream/stream.hpp"
#include "net/stream/tls_buffer.hpp"
#include "net/stream/tls_records.hpp"

namespace isthmus::net {

class TlsWriter {
 public:
  /// For a socket that outlives it. `of_one_key`: the most records that it writes with one key.
  TlsWriter(Socket& socket, std::uint64_t of_one_key);

  /// Before all else, these are made.
  std::optional<TlsRecords>& seals() { return seals_; }

  /// As Stream::write.
  Stream::Moved write(std::span<const iovec> from);
  /// Writes a fatal alert (RFC 8446, section 6), as far as the socket takes it.
  void alert(std::uint8_t description);
  /// The next record of data has another key, as the peer has asked.
  void renew() { asked_ = true; }
  std::size_t memory() const { return out_.data.size(); }

 private:
  Stream::Moved send();
  bool seal_renewal();
  bool seal_next(std::span<const iovec>& from, std::size_t& offset, Stream::Moved& moved);

  Socket& socket_;
  std::optional<TlsRecords> seals_;
  const std::uint64_t of_one_key_;
  TlsBuffer out_;  // encrypted, to be written
  bool asked_ = false;
};

}  // namespace isthmus::net
