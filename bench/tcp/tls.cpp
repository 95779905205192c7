#include "tcp/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "net/stream/tls.hpp"

namespace isthmus::tcpbench {
namespace {

[[noreturn]] void fail(SSL* ssl, int status, const char* what) {
  const int why = errno;
  const int kind = SSL_get_error(ssl, status);
  const auto said = [&]() -> std::string {
    if (kind == SSL_ERROR_ZERO_RETURN) return "the other end has closed the connection";
    if (kind == SSL_ERROR_SYSCALL && why != 0) return std::strerror(why);
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
      return "nothing moved for a minute";
    }
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    return text.data();
  };
  throw std::runtime_error(std::string(what) + ": " + said());
}

}  // namespace

void Tls::Free::operator()(SSL* ssl) const { SSL_free(ssl); }

Tls::Tls(int fd, bool server, const std::string& token) {
  // The SSL keeps a count of its context.
  asio::ssl::context context = net::make_tls(server, {"isthmus-tcpbench", token});
  ssl_.reset(SSL_new(context.native_handle()));
  if (!ssl_ || SSL_set_fd(ssl_.get(), fd) != 1) throw std::runtime_error("OpenSSL: no memory");
  errno = 0;
  const int status = server ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get());
  if (status != 1) fail(ssl_.get(), status, "cannot shake hands");
  if (!net::proved(ssl_.get())) throw std::runtime_error("the other end has another token");
}

void Tls::send(const char* bytes, std::size_t size) {
  std::size_t written = 0;
  errno = 0;
  const int status = SSL_write_ex(ssl_.get(), bytes, size, &written);  // all of it
  if (status != 1) fail(ssl_.get(), status, "cannot send");
}

std::size_t Tls::receive(char* bytes, std::size_t size) {
  std::size_t read = 0;
  errno = 0;
  const int status = SSL_read_ex(ssl_.get(), bytes, size, &read);
  if (status != 1) fail(ssl_.get(), status, "cannot receive");
  return read;
}

}  // namespace isthmus::tcpbench
