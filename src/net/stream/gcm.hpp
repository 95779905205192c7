// AES-128-GCM, by the quickest library that this host has
// (docs/decisions/0057-libipsec-mb-encrypts-where-it-is-installed.md).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace isthmus::net {

/// Encrypts or decrypts records one after the other. Not for several threads at a time.
class Gcm {
 public:
  enum class Way : int { Open = 0, Seal = 1 };
  using Key = std::array<unsigned char, 16>;
  using Nonce = std::array<unsigned char, 12>;
  static constexpr std::size_t kTag = 16;

  virtual ~Gcm() = default;
  Gcm() = default;
  Gcm(const Gcm&) = delete;
  Gcm& operator=(const Gcm&) = delete;

  /// Before the first record, or between two. Throws std::bad_alloc.
  virtual void use_key(const Key& key) = 0;

  // The steps of a record. False: the library fails.

  /// The tag covers `head` as well, which is not encrypted. A nonce is good for one record of a
  /// key.
  virtual bool begin(const Nonce& nonce, std::span<const std::byte> head) = 0;
  /// The next bytes of the record, any number of times. `to` may be `from`.
  virtual bool pass(const void* from, std::size_t size, void* to) = 0;
  /// Ends a record that is sealed: writes its tag.
  virtual bool write_tag(std::byte* to) = 0;
  /// Ends a record that is opened. False: the tag is wrong, and none of the bytes may be used.
  virtual bool check_tag(const std::byte* tag) = 0;
};

/// Uses libipsec-mb if it can, else OpenSSL. Throws std::bad_alloc.
std::unique_ptr<Gcm> make_gcm(Gcm::Way way);
/// Throws std::bad_alloc.
std::unique_ptr<Gcm> openssl_gcm(Gcm::Way way);
/// Opens the library at the first call. Null if it is missing, or has another version than the
/// header with which Isthmus was built. Null also if the processor lacks instructions, or if a
/// known record differs from OpenSSL's. Throws std::bad_alloc.
std::unique_ptr<Gcm> ipsec_mb_gcm(Gcm::Way way);

}  // namespace isthmus::net
