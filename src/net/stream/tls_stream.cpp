#include "net/stream/tls_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace isthmus::net {
namespace {

constexpr std::size_t kRecord = TlsRecords::kMost;
constexpr std::size_t kFirstRead =
    std::size_t{32} * 1024;  // of the socket; doubled if it is filled
constexpr std::size_t kMostRead = std::size_t{256} * 1024;
// The bytes that are encrypted together, then written. Segments become as large as the kernel
// allows, and few are smaller.
constexpr std::size_t kWritten = std::size_t{256} * 1024;
// If there is less, the first record leaves while the next are being encrypted. A frame of a large
// message, which a gateway passes on, has as much: it costs one write.
constexpr std::size_t kMuch = std::size_t{64} * 1024;
// Smaller pieces of a record are copied together before they are encrypted.
constexpr std::size_t kSmall = 1024;

constexpr unsigned kSmallUses = 32;  // behind which a buffer gives memory back

constexpr std::uint8_t kUnexpectedMessage = 10, kBadRecordMac = 20;  // alerts
constexpr auto kKeyUpdate = std::byte{24};
// Renews the key of this end, and asks for no new key of the other.
constexpr std::array kRenewal{kKeyUpdate, std::byte{0}, std::byte{0}, std::byte{1}, std::byte{0}};

bool is_key_update(std::span<const std::byte> text) {
  return text.size() == kRenewal.size() &&
         std::ranges::equal(text.first(4), std::span(kRenewal).first(4)) && text[4] <= std::byte{1};
}

}  // namespace

TlsStream::TlsStream(Socket socket, asio::ssl::context context, bool server, std::string where,
                     std::uint64_t of_one_key)
    : Stream(std::move(socket), std::move(where)),
      handshake_(Stream::socket(), std::move(context), server),
      of_one_key_(of_one_key) {}

asio::awaitable<std::error_code> TlsStream::handshake() { return handshake_.run(seals_, opens_); }

void TlsStream::Buffer::compact() {
  if (begin == 0) return;
  if (size() > 0) std::memmove(data.data(), data.data() + begin, size());
  end -= std::exchange(begin, 0);
}

std::byte* TlsStream::Buffer::room(std::size_t bytes) {
  if (end + bytes > data.size()) data.resize(end + bytes);
  return data.data() + end;
}

void TlsStream::Buffer::used(std::size_t bytes) {
  small = bytes > kFirstRead ? 0 : small + 1;
  if (small < kSmallUses || data.size() <= kFirstRead) return;
  data = std::vector<std::byte>(kFirstRead);
}

Stream::Moved TlsStream::send_records() {
  Moved moved;
  while (out_.size() > 0) {
    const ssize_t n = ::send(socket().native_handle(), out_.data.data() + out_.begin, out_.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      out_.begin += static_cast<std::size_t>(n);
      continue;
    }
    moved = blocked_or_failed(errno, Wait::Writable);
    if (moved.error || moved.wait != Wait::None) return moved;
  }
  const std::size_t sent = std::exchange(out_.end, 0);
  out_.begin = 0;
  if (sent > 0) out_.used(sent);
  return moved;
}

// Goes on with another key.
bool TlsStream::seal_renewal() {
  std::array text = kRenewal;
  const iovec part{text.data(), text.size()};
  std::byte* const to = out_.room(text.size() + TlsRecords::kAround);
  if (!seals_->seal({&part, 1}, to, TlsRecords::Type::Handshake)) return false;
  out_.end += text.size() + TlsRecords::kAround;
  seals_->renew();
  asked_ = false;
  return true;
}

// Encrypts the next record of `from`, whose first part is used up to `offset`.
bool TlsStream::seal_next(std::span<const iovec>& from, std::size_t& offset, Moved& moved) {
  std::array<std::byte, kRecord> copied;
  std::array<iovec, 2 * kRecord / kSmall + 2> parts;
  std::size_t count = 0, in_copied = 0, size = 0;
  bool joins = false;  // the last part is in `copied`
  while (!from.empty() && size < kRecord) {
    const iovec& first = from.front();
    const std::size_t part = std::min(first.iov_len - offset, kRecord - size);
    std::byte* const at = static_cast<std::byte*>(first.iov_base) + offset;
    if (part >= kSmall) {
      parts[count++] = {at, part};
      joins = false;
    } else if (part > 0) {
      std::memcpy(copied.data() + in_copied, at, part);
      if (!joins) parts[count++] = {copied.data() + in_copied, 0};
      parts[count - 1].iov_len += part;
      in_copied += part;
      joins = true;
    }
    size += part;
    offset += part;
    if (offset < first.iov_len) break;
    from = from.subspan(1);
    offset = 0;
  }
  if (size == 0) return true;
  const bool renews = asked_ || seals_->count() >= of_one_key_;
  if ((renews && !seal_renewal()) ||
      !seals_->seal(std::span(parts).first(count), out_.room(size + TlsRecords::kAround))) {
    moved.error = TlsFault::CannotSeal;
    return false;
  }
  out_.end += size + TlsRecords::kAround;
  moved.bytes += size;
  return true;
}

Stream::Moved TlsStream::write(std::span<const iovec> from) {
  Moved moved = send_records();
  std::size_t offset = 0;  // in the first of `from`
  const bool much = total(from) >= kMuch;
  while (moved.wait == Wait::None && !moved.error && !from.empty()) {
    if (!seal_next(from, offset, moved)) break;
    const bool leads = !much && moved.bytes <= kRecord;
    if (!leads && out_.size() < kWritten && !from.empty()) continue;
    const Moved sent = send_records();
    moved.wait = sent.wait;
    moved.error = sent.error;
  }
  return moved;
}

// Tells the other end, as far as the socket takes it.
void TlsStream::fail(TlsFault fault, std::uint8_t alert) {
  error_ = fault;
  std::array text{std::byte{2}, std::byte{alert}};  // it is fatal
  const iovec part{text.data(), text.size()};
  std::byte* const to = out_.room(text.size() + TlsRecords::kAround);
  if (!seals_->seal({&part, 1}, to, TlsRecords::Type::Alert)) return;
  out_.end += text.size() + TlsRecords::kAround;
  static_cast<void>(send_records());
}

// Opens the next record, which has come as a whole.
void TlsStream::open_next(std::size_t size) {
  const auto record = in_.bytes().first(size);
  in_.begin += size;
  const auto opened = opens_->open(record);
  if (!opened) {
    fail(TlsFault::Changed, kBadRecordMac);
    return;
  }
  const auto [type, text] = *opened;
  if (type == TlsRecords::Type::Data) {
    plain_ = text;
  } else if (type == TlsRecords::Type::Alert && text.size() == 2) {
    const auto alert = std::to_integer<std::uint8_t>(text[1]);
    error_ = alert == SSL3_AD_CLOSE_NOTIFY ? asio::error::eof : alert_error(alert);
  } else if (type == TlsRecords::Type::Handshake && is_key_update(text)) {
    opens_->renew();
    asked_ = asked_ || text[4] == std::byte{1};
  } else {
    fail(TlsFault::Foreign, kUnexpectedMessage);
  }
}

Stream::Moved TlsStream::receive() {
  if (in_.size() == 0 && in_.end > 0) in_.used(in_.end);
  in_.compact();
  const bool grows = filled_ && in_.data.size() < kMostRead;
  if (grows) in_.data.resize(std::max(kFirstRead, 2 * in_.data.size()));
  const std::size_t most = in_.data.size() - in_.end;
  const ssize_t n = ::recv(socket().native_handle(), in_.data.data() + in_.end, most, MSG_DONTWAIT);
  if (n < 0) return blocked_or_failed(errno, Wait::Readable);
  Moved moved;
  moved.bytes = static_cast<std::size_t>(n);
  if (n == 0) moved.error = asio::error::eof;
  if (moved.bytes > kFirstRead) in_.small = 0;
  in_.end += moved.bytes;
  filled_ = moved.bytes == most;
  drained_ = !filled_;
  return moved;
}

Stream::Moved TlsStream::read(std::span<const iovec> into) {
  Moved moved;
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
      moved.wait = Wait::Readable;
      return moved;
    } else {
      const Moved received = receive();
      error_ = received.error;
      moved.wait = received.wait;
      if (moved.wait != Wait::None) return moved;
    }
  }
  return moved;
}

}  // namespace isthmus::net
