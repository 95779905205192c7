#include "net/stream/tls_stream.hpp"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <asio/redirect_error.hpp>
#include <asio/ssl/error.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace isthmus::net {
namespace {

constexpr std::size_t kRecord = 16 * 1024;                // plain bytes in a record of TLS, at most
constexpr std::size_t kRecords = std::size_t{64} * 1024;  // read at a time, then decrypted
// The bytes that are encrypted together, then written. Segments become as large as the kernel
// allows, and few are smaller.
constexpr std::size_t kWritten = std::size_t{256} * 1024;
// If there is less, the first record leaves while the next are being encrypted. A frame of a large
// message, which a gateway passes on, has as much: it costs one write.
constexpr std::size_t kMuch = std::size_t{64} * 1024;

}  // namespace

TlsStream::TlsStream(Socket socket, asio::ssl::context context, bool server, std::string where)
    : Stream(std::move(socket), std::move(where)),
      context_(std::move(context)),
      ssl_(SSL_new(context_.native_handle())) {
  BIO* const bio = ssl_ == nullptr ? nullptr : BIO_new(bio_method());
  if (bio == nullptr) {
    SSL_free(ssl_);
    throw std::bad_alloc();
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_mode(ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_set_read_ahead(ssl_, 1);
  SSL_set_default_read_buffer_len(ssl_, kRecords);
  if (server) {
    SSL_set_accept_state(ssl_);
  } else {
    SSL_set_connect_state(ssl_);
  }
}

TlsStream::~TlsStream() { SSL_free(ssl_); }

// ---- what OpenSSL reads and writes --------------------------------------------------------------

BIO_METHOD* TlsStream::bio_method() {
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

int TlsStream::bio_read(BIO* bio, char* into, std::size_t size, std::size_t* done) {
  auto& self = *static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const ssize_t n = ::recv(self.socket().native_handle(), into, size, MSG_DONTWAIT);
  if (n > 0) {
    *done = static_cast<std::size_t>(n);
    self.socket_drained_ = *done < size;
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

int TlsStream::bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* done) {
  auto& records = static_cast<TlsStream*>(BIO_get_data(bio))->records_;
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  records.insert(records.end(), bytes, bytes + size);
  *done = size;
  return 1;
}

long TlsStream::bio_control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

Stream::Moved TlsStream::send_records() {
  Moved moved;
  while (records_sent_ < records_.size()) {
    const ssize_t n = ::send(socket().native_handle(), records_.data() + records_sent_,
                             records_.size() - records_sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      records_sent_ += static_cast<std::size_t>(n);
      continue;
    }
    moved = blocked_or_failed(errno, Wait::Writable);
    if (moved.error || moved.wait != Wait::None) return moved;
  }
  records_.clear();
  records_sent_ = 0;
  return moved;
}

std::error_code TlsStream::failure(int result) {
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

// ---- the stream ---------------------------------------------------------------------------------

asio::awaitable<std::error_code> TlsStream::handshake() {
  std::error_code error;
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_);
    const int kind = SSL_get_error(ssl_, result);
    if (result != 1 && kind != SSL_ERROR_WANT_READ) error = failure(result);
    while (!records_.empty()) {
      const Moved moved = send_records();
      if (moved.error && !error) error = moved.error;
      if (moved.error) break;
      if (moved.wait == Wait::None) continue;
      co_await socket().async_wait(Socket::wait_write,
                                   asio::redirect_error(asio::use_awaitable, error));
      if (error) break;
    }
    if (error || result == 1) co_return error;
    co_await socket().async_wait(Socket::wait_read,
                                 asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return error;
  }
}

Stream::Moved TlsStream::read(std::span<const iovec> into) {
  Moved moved;
  for (const iovec& part : into) {
    for (std::size_t filled = 0; filled < part.iov_len;) {
      ERR_clear_error();
      std::size_t n = 0;
      const int result = SSL_read_ex(ssl_, static_cast<std::byte*>(part.iov_base) + filled,
                                     part.iov_len - filled, &n);
      if (result == 1) {
        moved.bytes += n;
        filled += n;
        if (!socket_drained_ || SSL_has_pending(ssl_) != 0) continue;
        // That was all there is; to hear so from OpenSSL and the kernel costs as much as the bytes.
        moved.wait = Wait::Readable;
        return moved;
      }
      if (SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ) {
        moved.wait = Wait::Readable;
      } else if (moved.bytes == 0) {
        moved.error = failure(result);
      }
      return moved;  // an error behind bytes is met again by the next call
    }
  }
  return moved;
}

bool TlsStream::encrypt(std::span<const std::byte> bytes, Moved& moved) {
  ERR_clear_error();
  std::size_t n = 0;
  const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &n);
  if (result != 1) {
    moved.error = failure(result);
    return false;
  }
  moved.bytes += n;
  return n == bytes.size();
}

Stream::Moved TlsStream::write(std::span<const iovec> from) {
  Moved moved = send_records();
  std::size_t offset = 0;  // in the first of `from`
  const bool much = total(from) >= kMuch;
  while (moved.wait == Wait::None && !moved.error && !from.empty()) {
    // Small frames share a record; large ones are encrypted where they stand.
    std::array<std::byte, kRecord> gathered;
    std::span<const std::byte> record;
    const iovec& first = from.front();
    if (first.iov_len - offset >= kRecord / 4 || from.size() == 1) {
      record = {static_cast<const std::byte*>(first.iov_base) + offset,
                std::min(first.iov_len - offset, kRecord)};
      offset += record.size();
    } else {
      std::size_t filled = 0;
      while (!from.empty() && filled < kRecord) {
        const std::size_t part = std::min(from.front().iov_len - offset, kRecord - filled);
        std::memcpy(gathered.data() + filled,
                    static_cast<const std::byte*>(from.front().iov_base) + offset, part);
        filled += part;
        offset += part;
        if (offset < from.front().iov_len) break;
        from = from.subspan(1);
        offset = 0;
      }
      record = std::span(gathered).first(filled);
    }
    if (!from.empty() && offset == from.front().iov_len) {
      from = from.subspan(1);
      offset = 0;
    }
    if (!encrypt(record, moved)) break;
    const bool leads = !much && moved.bytes <= kRecord;
    if (!leads && records_.size() < kWritten && !from.empty()) continue;
    const Moved sent = send_records();
    moved.wait = sent.wait;
    moved.error = sent.error;
  }
  return moved;
}

}  // namespace isthmus::net
