#include "net/stream/stream.hpp"

#include <unistd.h>

#include <asio/error.hpp>
#include <cerrno>
#include <numeric>
#include <utility>

namespace isthmus::net {

Stream::Stream(Socket socket, std::string where)
    : socket_(std::move(socket)), where_(std::move(where)) {
  std::error_code ignored;  // a socket that is gone fails at its first use
  socket_.native_non_blocking(true, ignored);
}

void Stream::wait(Wait what, Ready ready) {
  socket_.async_wait(what == Wait::Readable ? Socket::wait_read : Socket::wait_write,
                     [self = shared_from_this(),
                      ready = std::move(ready)](const std::error_code& error) { ready(error); });
}

void Stream::forget_writing() {
  std::error_code error;  // a socket that is gone fails at its first use
  const auto end = socket_.local_endpoint(error);
  if (error) return;
  const int handle = socket_.release(error);
  if (error) return;
  socket_.assign(end.protocol(), handle, error);
  if (error) ::close(handle);
}

void Stream::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

std::size_t total(std::span<const iovec> parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const iovec& part) { return sum + part.iov_len; });
}

bool ended_by_peer(const std::error_code& error) {
  // asio's errors have a category of their own, those of our calls the standard one.
  return error == asio::error::eof || error == asio::error::connection_reset ||
         error == asio::error::broken_pipe || error == std::errc::connection_reset ||
         error == std::errc::broken_pipe;
}

Stream::Moved blocked_or_failed(int error, Stream::Wait wait) {
  Stream::Moved moved;
  if (error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS) {
    moved.wait = wait;
  } else if (error != EINTR) {
    moved.error = std::error_code(error, std::system_category());
  }
  return moved;
}

}  // namespace isthmus::net
