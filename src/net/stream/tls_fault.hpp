// The errors of a TlsStream behind its handshake. Each has a sentence with a remedy.
#pragma once

#include <cstdint>
#include <system_error>
#include <type_traits>

namespace isthmus::net {

enum class TlsFault : std::uint8_t {
  NoSecrets = 1,  ///< OpenSSL has not reported the keys
  ReadTooFar,     ///< OpenSSL has read bytes behind the handshake
  CannotSeal,     ///< the cipher fails
  NotARecord,     ///< bytes that are not the head of a record
  Changed,        ///< a record whose tag is wrong
  Foreign,        ///< a record of the peer whose content Isthmus never sends
};

const std::error_category& tls_faults();
std::error_code make_error_code(TlsFault fault);
/// The peer has ended TLS with the alert of this number (RFC 8446, section 6).
std::error_code alert_error(std::uint8_t alert);

}  // namespace isthmus::net

template <>
struct std::is_error_code_enum<isthmus::net::TlsFault> : std::true_type {};
