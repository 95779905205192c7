// One direction of TLS 1.3's records (RFC 8446, section 5) with AES-128-GCM. OpenSSL's own records
// cost a copy of each byte more at either end.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "net/stream/gcm.hpp"

namespace isthmus::net {

class TlsRecords {
 public:
  static constexpr std::size_t kMost = 16 * 1024;                ///< plain bytes in a record
  static constexpr std::size_t kHead = 5;                        ///< type, version, length
  static constexpr std::size_t kAround = kHead + 1 + Gcm::kTag;  ///< with the inner type
  /// The most records of one key. RFC 8446, section 5.5, allows 24 million.
  static constexpr std::uint64_t kOfOneKey = std::uint64_t{1} << 24;
  using Secret = std::array<unsigned char, 32>;
  using Way = Gcm::Way;
  enum class Type : std::uint8_t { Alert = 21, Handshake = 22, Data = 23 };
  /// Behind this message, the records of its sender have the next key (RFC 8446, section 4.6.3).
  /// With 1 at its end, it also asks for a new key of the other end.
  static constexpr std::array kKeyUpdate{std::byte{24}, std::byte{0}, std::byte{0}, std::byte{1},
                                         std::byte{0}};

  /// `secret` is the traffic secret of this direction. Throws std::bad_alloc.
  TlsRecords(Way way, const Secret& secret);
  ~TlsRecords();
  TlsRecords(const TlsRecords&) = delete;
  TlsRecords& operator=(const TlsRecords&) = delete;

  /// Writes a record of these bytes, kMost at most, to `to`, which has room for kAround more.
  /// False: the cipher fails.
  bool seal(std::span<const iovec> parts, std::byte* to, Type type = Type::Data);

  struct Next {
    bool foreign = false;  ///< the bytes do not begin a record
    std::size_t size = 0;  ///< of the record; 0: not known yet
  };
  static Next next(std::span<const std::byte> bytes);
  struct Opened {
    Type type{};                 ///< any value; 0: the record has none
    std::span<std::byte> plain;  ///< without padding
  };
  /// Opens a whole record where it stands. Empty: its tag is wrong, and no byte of it may be used.
  std::optional<Opened> open(std::span<std::byte> record);

  /// The next record has the next key (RFC 8446, section 7.2). Throws std::bad_alloc.
  void renew();
  /// The records of the present key.
  std::uint64_t count() const { return number_; }

 private:
  void use_secret();
  bool begin(const std::byte* head);

  const std::unique_ptr<Gcm> cipher_;
  Secret secret_;
  Gcm::Nonce iv_{};
  std::uint64_t number_ = 0;  // of the next record
};

}  // namespace isthmus::net
