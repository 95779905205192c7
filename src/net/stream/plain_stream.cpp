#include "net/stream/plain_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <asio/error.hpp>
#include <cerrno>
#include <climits>

namespace isthmus::net {
Stream::Moved PlainStream::read(std::span<const iovec> into) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(into.data());
  message.msg_iovlen = std::min<std::size_t>(into.size(), IOV_MAX);
  const ssize_t n = ::recvmsg(socket().native_handle(), &message, MSG_DONTWAIT);
  if (n < 0) return blocked_or_failed(errno, Wait::Readable);
  Moved moved;
  moved.bytes = static_cast<std::size_t>(n);
  if (n == 0) {
    moved.error = asio::error::eof;
  } else if (moved.bytes < total(into)) {
    moved.wait = Wait::Readable;  // that was all there is
  }
  return moved;
}

Stream::Moved PlainStream::write(std::span<const iovec> from) {
  if (from.empty()) return {};
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(from.data());
  message.msg_iovlen = std::min<std::size_t>(from.size(), IOV_MAX);
  const ssize_t n = ::sendmsg(socket().native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0) return blocked_or_failed(errno, Wait::Writable);
  Moved moved;
  moved.bytes = static_cast<std::size_t>(n);
  return moved;
}

}  // namespace isthmus::net
