#include "net/stream/tls_handshake.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <asio/error.hpp>
#include <asio/redirect_error.hpp>
#include <asio/ssl/error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "net/stream/tls_fault.hpp"

namespace isthmus::net {

TlsHandshake::TlsHandshake(Socket& socket, asio::ssl::context context, bool server)
    : socket_(socket), context_(std::move(context)), ssl_(SSL_new(context_.native_handle())) {
  BIO* const bio = ssl_ == nullptr ? nullptr : BIO_new(bio_method());
  if (bio == nullptr) {
    SSL_free(ssl_);
    throw std::bad_alloc();
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  // No byte behind the handshake is read with it.
  SSL_set_read_ahead(ssl_, 0);
  SSL_CTX_set_keylog_callback(context_.native_handle(), log_key);
  if (server) {
    SSL_set_accept_state(ssl_);
  } else {
    SSL_set_connect_state(ssl_);
  }
}

TlsHandshake::~TlsHandshake() {
  forget_secrets();
  SSL_free(ssl_);
}

void TlsHandshake::forget_secrets() {
  for (auto* const secret : {&client_, &server_}) {
    if (*secret) OPENSSL_cleanse((*secret)->data(), (*secret)->size());
    secret->reset();
  }
}

BIO_METHOD* TlsHandshake::bio_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "isthmus stream");
    if (m == nullptr) throw std::bad_alloc();
    BIO_meth_set_read_ex(m, bio_read);
    BIO_meth_set_write_ex(m, bio_write);
    BIO_meth_set_ctrl(m, bio_control);
    return m;
  }();
  return method;
}

int TlsHandshake::bio_read(BIO* bio, char* into, std::size_t size, std::size_t* done) {
  auto& self = *static_cast<TlsHandshake*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::recv(self.socket_.native_handle(), into, size, MSG_DONTWAIT);
  if (n > 0) {
    *done = static_cast<std::size_t>(n);
    return 1;
  }
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_retry_read(bio);
    return 0;
  }
  self.socket_ended_ = true;
  self.socket_error_ = n < 0 ? errno : 0;
  return 0;
}

int TlsHandshake::bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* done) {
  auto& out = static_cast<TlsHandshake*>(BIO_get_data(bio))->out_;
  const auto bytes = std::as_bytes(std::span(from, size));
  out.insert(out.end(), bytes.begin(), bytes.end());
  *done = size;
  return 1;
}

long TlsHandshake::bio_control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// OpenSSL has no other way to the traffic secrets.
void TlsHandshake::log_key(const SSL* ssl, const char* line) {
  auto& self = *static_cast<TlsHandshake*>(BIO_get_data(SSL_get_rbio(ssl)));
  const std::string_view text(line);
  const bool client = text.starts_with("CLIENT_TRAFFIC_SECRET_0 ");
  const std::size_t at = text.rfind(' ') + 1;
  auto& secret = client ? self.client_ : self.server_;
  if (!client && !text.starts_with("SERVER_TRAFFIC_SECRET_0 ")) return;
  if (text.size() - at != 2 * std::tuple_size_v<TlsRecords::Secret>) return;
  const auto digit = [&](std::size_t i) {
    return OPENSSL_hexchar2int(static_cast<unsigned char>(text[at + i]));
  };
  secret.emplace();
  for (std::size_t i = 0; i < secret->size(); ++i) {
    (*secret)[i] = static_cast<unsigned char>(digit(2 * i) << 4 | digit(2 * i + 1));
  }
}

std::error_code TlsHandshake::make_records(std::optional<TlsRecords>& seals,
                                           std::optional<TlsRecords>& opens) {
  if (!client_ || !server_) return TlsFault::NoSecrets;
  if (SSL_has_pending(ssl_) == 1) return TlsFault::ReadTooFar;
  const bool server = SSL_is_server(ssl_) == 1;
  seals.emplace(TlsRecords::Way::Seal, server ? *server_ : *client_);
  opens.emplace(TlsRecords::Way::Open, server ? *client_ : *server_);
  forget_secrets();
  SSL_free_buffers(ssl_);
  out_ = {};
  return {};
}

std::error_code TlsHandshake::failure(int result) {
  const int kind = SSL_get_error(ssl_, result);
  if (kind == SSL_ERROR_ZERO_RETURN) return asio::error::eof;
  const unsigned long code = ERR_get_error();
  if (socket_ended_) {
    if (socket_error_ == 0) return asio::error::eof;
    return {socket_error_, std::system_category()};
  }
  if (code != 0) return {static_cast<int>(code), asio::error::get_ssl_category()};
  return asio::error::connection_aborted;
}

asio::awaitable<std::error_code> TlsHandshake::send() {
  std::error_code error;
  for (std::size_t sent = 0; sent < out_.size();) {
    const ssize_t n = ::send(socket_.native_handle(), out_.data() + sent, out_.size() - sent,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    const Stream::Moved moved = blocked_or_failed(errno, Stream::Wait::Writable);
    if (moved.error) co_return moved.error;
    if (moved.wait == Stream::Wait::None) continue;
    co_await socket_.async_wait(Socket::wait_write,
                                asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return error;
  }
  out_.clear();
  co_return error;
}

asio::awaitable<std::error_code> TlsHandshake::run(std::optional<TlsRecords>& seals,
                                                   std::optional<TlsRecords>& opens) {
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_);
    std::error_code error;
    if (result != 1 && SSL_get_error(ssl_, result) != SSL_ERROR_WANT_READ) error = failure(result);
    // Perhaps an alert for the other end.
    const std::error_code unsent = co_await send();
    if (!error) error = unsent;
    if (result == 1 && !error) error = make_records(seals, opens);
    if (error || result == 1) co_return error;
    co_await socket_.async_wait(Socket::wait_read,
                                asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return error;
  }
}

}  // namespace isthmus::net
