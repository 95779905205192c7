#include "net/ucx/ucx_stream.hpp"

#include <sys/socket.h>

#include <array>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "net/ucx/worker.hpp"

namespace isthmus::net::ucx {
namespace {

// The time that the last bytes may take after the end of the connection is known.
constexpr std::chrono::milliseconds kLastBytes{1000};

asio::io_context& context_of(Socket& socket) {
  return static_cast<asio::io_context&>(
      asio::query(socket.get_executor(), asio::execution::context));
}

}  // namespace

UcxStream::UcxStream(Socket socket, std::string where, std::unique_ptr<Pipe> pipe)
    : Stream(std::move(socket), std::move(where)),
      worker_(Worker::of(context_of(this->socket()))),
      pipe_(std::move(pipe)),
      late_(this->socket().get_executor()) {
  pipe_->news = [this] { look(); };
}

UcxStream::~UcxStream() = default;

Stream::Moved UcxStream::read(std::span<const iovec> into) {
  Moved moved;
  if (pipe_) moved.bytes = pipe_->read(into);
  if (moved.bytes > 0) {
    if (!pipe_->filled()) moved.wait = Wait::Readable;
  } else if (over()) {
    told_end_ = true;
    moved.error = !pipe_   ? make_error_code(asio::error::operation_aborted)
                  : ended_ ? ended_
                           : make_error_code(asio::error::connection_reset);
  } else {
    moved.wait = Wait::Readable;
  }
  return moved;
}

Stream::Moved UcxStream::write(std::span<const iovec> from) {
  Moved moved;
  if (from.empty()) return moved;
  // As of rings: what was written before the end is to be read first.
  if (told_end_ || !pipe_) {
    moved.error = std::make_error_code(std::errc::broken_pipe);
    return moved;
  }
  moved.bytes = pipe_->write(from);
  if (moved.bytes == 0) moved.wait = Wait::Writable;
  return moved;
}

void UcxStream::wait(Wait what, Ready ready) {
  (what == Wait::Readable ? readable_ : writable_) = std::move(ready);
  if (!pipe_) {
    asio::post(socket().get_executor(),
               [self = std::static_pointer_cast<UcxStream>(shared_from_this())] { self->look(); });
    return;
  }
  listen();
  if (over() || (readable_ && pipe_->filled()) || (writable_ && pipe_->room())) {
    worker_.has_news(*pipe_);
  }
}

// No more bytes come than those that are here.
bool UcxStream::over() const {
  return !pipe_ || !pipe_->broken().empty() || (ended_ && pipe_->arrived() >= last_);
}

void UcxStream::look() {
  if (!readable_ && !writable_) return;
  const auto self = shared_from_this();
  const auto error = pipe_ ? std::error_code() : make_error_code(asio::error::operation_aborted);
  if (readable_ && (over() || pipe_->filled())) std::exchange(readable_, nullptr)(error);
  if (writable_ && (over() || pipe_->room())) std::exchange(writable_, nullptr)(error);
}

// Keeps one wait for the socket under way while there are waits.
void UcxStream::listen() {
  if (ended_ || std::exchange(listening_, true)) return;
  socket().async_wait(Socket::wait_read, [self = std::static_pointer_cast<UcxStream>(
                                              shared_from_this())](const std::error_code& error) {
    self->listening_ = false;
    if (!error && self->pipe_) self->hear();
  });
}

void UcxStream::hear() {
  std::array<std::byte, 64> said;
  const ssize_t n = ::recv(socket().native_handle(), said.data(), said.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return listen();
  if (n == sizeof last_) {
    std::memcpy(&last_, said.data(), sizeof last_);
  }
  ended_ =
      n < 0 ? std::error_code(errno, std::system_category()) : make_error_code(asio::error::eof);
  late_.expires_after(kLastBytes);
  late_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = std::static_pointer_cast<UcxStream>(weak.lock());
    if (error || !self || !self->pipe_) return;
    self->last_ = 0;
    self->worker_.has_news(*self->pipe_);
  });
  worker_.has_news(*pipe_);
}

void UcxStream::close() {
  if (!pipe_) return;
  const std::uint64_t sent = pipe_->sent();
  (void)::send(socket().native_handle(), &sent, sizeof sent, MSG_DONTWAIT | MSG_NOSIGNAL);
  pipe_.reset();
  late_.cancel();
  Stream::close();
  asio::post(socket().get_executor(),
             [self = std::static_pointer_cast<UcxStream>(shared_from_this())] { self->look(); });
}

}  // namespace isthmus::net::ucx
