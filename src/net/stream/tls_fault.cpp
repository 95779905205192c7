#include "net/stream/tls_fault.hpp"

#include <openssl/ssl.h>

#include <string>

namespace isthmus::net {
namespace {

constexpr int kAlerts = 256;  // the values of alerts begin there

class Faults final : public std::error_category {
 public:
  const char* name() const noexcept override { return "isthmus.tls"; }
  std::string message(int value) const override {
    if (value >= kAlerts) {
      return std::string("the other end has ended TLS with the alert \"") +
             SSL_alert_desc_string_long(value - kAlerts) + "\"; its messages say why";
    }
    switch (static_cast<TlsFault>(value)) {
      case TlsFault::NoSecrets:
        return "OpenSSL has not reported the keys of the connection; build Isthmus with another "
               "release of OpenSSL 3";
      case TlsFault::ReadTooFar:
        return "OpenSSL has read bytes behind the handshake; build Isthmus with another release of "
               "OpenSSL 3";
      case TlsFault::CannotSeal:
        return "the cipher fails; check that this host has free memory";
      case TlsFault::NotARecord:
        return "bytes have come that are not a record of TLS 1.3; check firewalls and proxies "
               "between the two hosts";
      case TlsFault::Changed:
        return "a record of TLS was changed on its way; check the network between the two hosts, "
               "and its firewalls and proxies";
      case TlsFault::Foreign:
        return "a record of TLS has come that Isthmus never sends; install the same release of "
               "Isthmus at both ends";
    }
    return "unknown error of TLS";
  }
};

}  // namespace

const std::error_category& tls_faults() {
  static const Faults faults;
  return faults;
}

std::error_code make_error_code(TlsFault fault) { return {static_cast<int>(fault), tls_faults()}; }

std::error_code alert_error(std::uint8_t alert) { return {kAlerts + alert, tls_faults()}; }

}  // namespace isthmus::net
