#include "net/stream/tls_writer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/stream/tls_fault.hpp"

namespace isthmus::net {
namespace {

constexpr std::size_t kRecord = TlsRecords::kMost;
// The bytes that are encrypted together, then written. Segments become as large as the kernel
// allows, and few are smaller.
constexpr std::size_t kWritten = std::size_t{256} * 1024;
// If there is less, the first record leaves while the next are being encrypted. A frame of a large
// message, which a gateway passes on, has as much: it costs one write.
constexpr std::size_t kMuch = std::size_t{60} * 1024;
// Smaller pieces of a record are copied together before they are encrypted.
constexpr std::size_t kSmall = 1024;

constexpr auto kFatal = std::byte{2};  // the level of an alert

}  // namespace

TlsWriter::TlsWriter(Socket& socket, std::uint64_t of_one_key)
    : socket_(socket), of_one_key_(of_one_key) {}

Stream::Moved TlsWriter::send() {
  Stream::Moved moved;
  while (out_.size() > 0) {
    const ssize_t n = ::send(socket_.native_handle(), out_.data.data() + out_.begin, out_.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      out_.begin += static_cast<std::size_t>(n);
      continue;
    }
    moved = blocked_or_failed(errno, Stream::Wait::Writable);
    if (moved.error || moved.wait != Stream::Wait::None) return moved;
  }
  const std::size_t sent = std::exchange(out_.end, 0);
  out_.begin = 0;
  if (sent > 0) out_.used(sent);
  return moved;
}

// Goes on with another key.
bool TlsWriter::seal_renewal() {
  std::array text = TlsRecords::kKeyUpdate;
  const iovec part{text.data(), text.size()};
  std::byte* const to = out_.room(text.size() + TlsRecords::kAround);
  if (!seals_->seal({&part, 1}, to, TlsRecords::Type::Handshake)) return false;
  out_.end += text.size() + TlsRecords::kAround;
  seals_->renew();
  asked_ = false;
  return true;
}

// Encrypts the next record of `from`, whose first part is used up to `offset`.
bool TlsWriter::seal_next(std::span<const iovec>& from, std::size_t& offset, Stream::Moved& moved) {
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

Stream::Moved TlsWriter::write(std::span<const iovec> from) {
  Stream::Moved moved = send();
  std::size_t offset = 0;  // in the first of `from`
  const bool much = total(from) >= kMuch;
  while (moved.wait == Stream::Wait::None && !moved.error && !from.empty()) {
    if (!seal_next(from, offset, moved)) break;
    const bool leads = !much && moved.bytes <= kRecord;
    if (!leads && out_.size() < kWritten && !from.empty()) continue;
    const Stream::Moved sent = send();
    moved.wait = sent.wait;
    moved.error = sent.error;
  }
  return moved;
}

void TlsWriter::alert(std::uint8_t description) {
  std::array text{kFatal, std::byte{description}};
  const iovec part{text.data(), text.size()};
  std::byte* const to = out_.room(text.size() + TlsRecords::kAround);
  if (!seals_->seal({&part, 1}, to, TlsRecords::Type::Alert)) return;
  out_.end += text.size() + TlsRecords::kAround;
  static_cast<void>(send());
}

}  // namespace isthmus::net
