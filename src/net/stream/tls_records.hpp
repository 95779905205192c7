// One direction of TLS 1.3's records (RFC 8446, section 5) with AES-128-GCM, by OpenSSL's cipher.
// OpenSSL's own records cost two copies of each byte more at either end.
#pragma once

#include <openssl/evp.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace isthmus::net {

class TlsRecords {
 public:
  static constexpr std::size_t kMost = 16 * 1024;         ///< plain bytes in a record
  static constexpr std::size_t kHead = 5;                 ///< type, version, length
  static constexpr std::size_t kAround = kHead + 1 + 16;  ///< with the inner type and the tag
  using Secret = std::array<unsigned char, 32>;
  enum class Way : int { Open = 0, Seal = 1 };

  /// `secret` is the traffic secret of this direction. Throws std::bad_alloc.
  TlsRecords(Way way, const Secret& secret);

  /// Writes a record of these bytes, kMost at most, to `to`, which has room for kAround more.
  /// False: OpenSSL fails.
  bool seal(std::span<const iovec> parts, std::byte* to);

  /// The size of the record that begins with these kHead bytes. 0: it is none of ours.
  static std::size_t size(const std::byte* head);
  enum class Opened : std::uint8_t { Data, Closed, Bad };
  /// Opens a whole record. Its plain bytes go to `into` in order, and those that find no room there
  /// replace the encrypted ones. If it is not Data, `into` holds anything.
  Opened open(std::span<std::byte> record, std::span<const iovec> into);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };

  bool begin(const std::byte* head);
  bool pass(const void* from, std::size_t size, void* to);

  std::unique_ptr<EVP_CIPHER_CTX, Free> cipher_;
  std::array<unsigned char, 12> iv_{};
  std::uint64_t number_ = 0;  // of the next record
};

}  // namespace isthmus::net
