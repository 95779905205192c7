#include "net/stream/tls_reader.hpp"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/error.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace isthmus::net {
namespace {

// A read of the socket. It doubles if it is filled.
constexpr std::size_t kFirstRead = TlsBuffer::kFirst, kMostRead = std::size_t{256} * 1024;
// A peer may send this many records without bytes in a row. OpenSSL allows as many. Isthmus sends
// at most one.
constexpr unsigned kMostIdle = 32;
constexpr std::uint8_t kUnexpectedMessage = 10, kBadRecordMac = 20;  // alerts

bool is_key_update(std::span<const std::byte> text) {
  constexpr auto& message = TlsRecords::kKeyUpdate;
  return text.size() == message.size() && text.back() <= std::byte{1} &&
         std::equal(message.begin(), message.end() - 1, text.begin());
}

}  // namespace

void TlsReader::fail(TlsFault fault, std::uint8_t alert) {
  error_ = fault;
  writer_.alert(alert);
}

// Opens the next record, which has come as a whole.
void TlsReader::open_next(std::size_t size) {
  const auto record = in_.bytes().first(size);
  in_.begin += size;
  const auto opened = opens_->open(record);
  if (!opened) {
    fail(TlsFault::Changed, kBadRecordMac);
    return;
  }
  const auto [type, text] = *opened;
  idle_ = type == TlsRecords::Type::Data && !text.empty() ? 0 : idle_ + 1;
  const bool few = idle_ <= kMostIdle;
  if (few && type == TlsRecords::Type::Data) {
    plain_ = text;
  } else if (few && type == TlsRecords::Type::Alert && text.size() == 2) {
    const auto alert = std::to_integer<std::uint8_t>(text[1]);
    error_ = alert == SSL3_AD_CLOSE_NOTIFY ? asio::error::eof : alert_error(alert);
  } else if (few && type == TlsRecords::Type::Handshake && is_key_update(text)) {
    opens_->renew();
    if (text.back() == std::byte{1}) writer_.renew();
  } else {
    fail(TlsFault::Foreign, kUnexpectedMessage);
  }
}

Stream::Moved TlsReader::receive() {
  if (in_.size() == 0 && in_.end > 0) in_.used(in_.end);
  in_.compact();
  const bool grows = filled_ && in_.data.size() < kMostRead;
  if (grows) in_.data.resize(std::max(kFirstRead, 2 * in_.data.size()));
  const std::size_t most = in_.data.size() - in_.end;
  const ssize_t n = ::recv(socket_.native_handle(), in_.data.data() + in_.end, most, MSG_DONTWAIT);
  if (n < 0) return blocked_or_failed(errno, Stream::Wait::Readable);
  Stream::Moved moved;
  moved.bytes = static_cast<std::size_t>(n);
  if (n == 0) moved.error = asio::error::eof;
  if (moved.bytes > kFirstRead) in_.small = 0;
  in_.end += moved.bytes;
  filled_ = moved.bytes == most;
  drained_ = !filled_;
  return moved;
}

Stream::Moved TlsReader::read(std::span<const iovec> into) {
  Stream::Moved moved;
  std::size_t offset = 0;  // in the first of `into`
  while (!into.empty()) {
    const iovec& first = into.front();
    if (offset == first.iov_len) {
      into = into.subspan(1);
      offset = 0;
      continue;
    }
    if (!plain_.empty()) {
      const std::size_t bytes = std::min(plain_.size(), first.iov_len - offset);
      std::memcpy(static_cast<std::byte*>(first.iov_base) + offset, plain_.data(), bytes);
      plain_ = plain_.subspan(bytes);
      offset += bytes;
      moved.bytes += bytes;
      continue;
    }
    if (error_) {
      if (moved.bytes == 0) moved.error = error_;  // else the next call returns it
      return moved;
    }
    const TlsRecords::Next next = TlsRecords::next(in_.bytes());
    if (next.foreign) {
      fail(TlsFault::NotARecord, kUnexpectedMessage);
    } else if (next.size > 0 && next.size <= in_.size()) {
      open_next(next.size);
    } else if (std::exchange(drained_, false)) {
      // That was all there is; to hear so from the kernel costs as much as the bytes.
      moved.wait = Stream::Wait::Readable;
      return moved;
    } else {
      const Stream::Moved received = receive();
      error_ = received.error;
      moved.wait = received.wait;
      if (moved.wait != Stream::Wait::None) return moved;
    }
  }
  return moved;
}

}  // namespace isthmus::net
