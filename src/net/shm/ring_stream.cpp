#include "net/shm/ring_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace isthmus::net {
namespace {

// The memory: two heads, then the bytes of the maker's ring and those of the taker's.
constexpr std::size_t kHeads = 4096;
static_assert(2 * sizeof(RingHead) <= kHeads);

RingHead& head(const SharedMemory& memory, std::size_t ring) {
  return reinterpret_cast<RingHead*>(memory.bytes().data())[ring];
}

std::span<std::byte> ring_bytes(const SharedMemory& memory, std::size_t ring) {
  const std::size_t size = (memory.bytes().size() - kHeads) / 2;
  return memory.bytes().subspan(kHeads + ring * size, size);
}

std::size_t written_by(RingStream::Side side) { return side == RingStream::Side::Maker ? 0 : 1; }
std::size_t read_by(RingStream::Side side) { return 1 - written_by(side); }

asio::io_context& context_of(Socket& socket) {
  return static_cast<asio::io_context&>(
      asio::query(socket.get_executor(), asio::execution::context));
}

}  // namespace

SharedMemory RingStream::make(std::size_t ring_bytes) {
  return SharedMemory::make(kHeads + 2 * std::bit_ceil(std::clamp(ring_bytes, kLeast, kMost)));
}

SharedMemory RingStream::take(Descriptor file) {
  if (file.number() < 0) throw std::runtime_error("speaks without giving shared memory");
  SharedMemory memory =
      SharedMemory::take(std::move(file), kHeads + 2 * kLeast, kHeads + 2 * kMost);
  const std::size_t bytes = memory.bytes().size() - kHeads;
  if (bytes % 2 != 0 || !std::has_single_bit(bytes / 2)) {
    throw std::runtime_error("gave shared memory of an odd size");
  }
  return memory;
}

asio::awaitable<Descriptor> RingStream::descriptor(std::shared_ptr<Stream> plain) {
  std::optional<Descriptor> file;
  while (!(file = receive_descriptor(plain->socket().native_handle()))) {
    co_await plain->socket().async_wait(Socket::wait_read, asio::use_awaitable);
  }
  co_return *std::move(file);
}

std::shared_ptr<RingStream> RingStream::offer(Stream& plain, std::size_t ring_bytes) {
  SharedMemory memory = make(ring_bytes);
  send_descriptor(plain.socket().native_handle(), memory.file());
  return std::make_shared<RingStream>(std::move(plain.socket()), plain.where(), std::move(memory),
                                      Side::Maker);
}

asio::awaitable<std::shared_ptr<RingStream>> RingStream::accept(std::shared_ptr<Stream> plain) {
  Descriptor file = co_await descriptor(plain);
  try {
    co_return std::make_shared<RingStream>(std::move(plain->socket()), plain->where(),
                                           take(std::move(file)), Side::Taker);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(plain->where() + " " + error.what());
  }
}

RingStream::RingStream(Socket socket, std::string where, SharedMemory memory, Side side)
    : Stream(std::move(socket), std::move(where)),
      memory_(std::move(memory)),
      writer_(head(memory_, written_by(side)), ring_bytes(memory_, written_by(side))),
      reader_(head(memory_, read_by(side)), ring_bytes(memory_, read_by(side))),
      watch_(asio::use_service<Watch>(context_of(this->socket()))) {
  memory_.close_file();
  watch_.add(*this);
}

RingStream::~RingStream() {
  if (watched_) watch_.remove(*this);
}

Stream::Moved RingStream::read(std::span<const iovec> into) {
  const RingMoved got = reader_.read(into);
  Moved moved;
  moved.bytes = got.bytes;
  if (got.broken) {
    moved.error = std::make_error_code(std::errc::protocol_error);
  } else if (got.bytes > 0) {
    if (got.wake) wake_peer();
    if (!reader_.filled()) moved.wait = Wait::Readable;
  } else if (ended_ || closed_) {
    told_end_ = true;
    moved.error = ended_ ? ended_ : asio::error::operation_aborted;
  } else {
    moved.wait = Wait::Readable;
  }
  return moved;
}

Stream::Moved RingStream::write(std::span<const iovec> from) {
  Moved moved;
  if (from.empty()) return moved;
  // An end that has been noticed, but not yet read, is kept from the writer: what was written
  // before it is to be read first.
  const RingMoved put = told_end_ || closed_ ? RingMoved{} : writer_.write(from);
  moved.bytes = put.bytes;
  if (put.broken) {
    moved.error = std::make_error_code(std::errc::protocol_error);
  } else if (put.bytes == 0 && (told_end_ || closed_)) {
    moved.error = std::make_error_code(std::errc::broken_pipe);
  } else if (put.bytes == 0) {
    moved.wait = Wait::Writable;
  } else if (put.wake) {
    wake_peer();
  }
  return moved;
}

void RingStream::wait(Wait what, Ready ready) {
  (what == Wait::Readable ? readable_ : writable_) = std::move(ready);
  if (!closed_) listen();
  if (closed_ || !watch_.awake()) {
    asleep(true);
    if (closed_ || this->ready()) {
      asio::post(
          socket().get_executor(),
          [self = std::static_pointer_cast<RingStream>(shared_from_this())] { self->look(); });
    }
  }
}

// Reuses one function object, so that small messages allocate no memory.
bool RingStream::wait_again(Wait what) {
  if (what != Wait::Readable || ending_ == nullptr) return false;
  wait(what, std::move(*std::exchange(ending_, nullptr)));
  return true;
}

bool RingStream::ready() const {
  const bool over = ended_ || closed_;
  return (readable_ && (over || reader_.filled())) || (writable_ && (over || writer_.room()));
}

bool RingStream::look() {
  if (!ready()) return false;
  const bool over = ended_ || closed_;
  const auto error = closed_ ? make_error_code(asio::error::operation_aborted) : std::error_code();
  const auto self = shared_from_this();
  bool any = false;
  if (readable_ && (over || reader_.filled())) {
    any = true;
    Ready ready = std::exchange(readable_, nullptr);
    ending_ = &ready;
    ready(error);
    ending_ = nullptr;
  }
  if (writable_ && (over || writer_.room())) {
    any = true;
    std::exchange(writable_, nullptr)(error);
  }
  return any;
}

void RingStream::asleep(bool is) {
  reader_.asleep(is && readable_);
  writer_.asleep(is && writable_);
}

void RingStream::forget() {
  const auto self = shared_from_this();
  watched_ = false;
  const Ready readable = std::exchange(readable_, nullptr);
  const Ready writable = std::exchange(writable_, nullptr);
}

void RingStream::wake_peer() {
  const char bell = 0;
  // A socket that is full of wake-ups does not need another.
  (void)::send(socket().native_handle(), &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Keeps one wait for the socket under way while there are waits.
void RingStream::listen() {
  if (std::exchange(listening_, true)) return;
  socket().async_wait(Socket::wait_read, [self = std::static_pointer_cast<RingStream>(
                                              shared_from_this())](const std::error_code& error) {
    self->listening_ = false;
    if (error || self->closed_) return;
    self->hear();
  });
}

void RingStream::hear() {
  std::array<char, 256> bells;
  while (true) {
    const ssize_t n = ::recv(socket().native_handle(), bells.data(), bells.size(), MSG_DONTWAIT);
    if (n > 0) continue;
    if (n == 0) {
      ended_ = asio::error::eof;
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      ended_ = std::error_code(errno, std::system_category());
    }
    break;
  }
  if (look() && !watch_.awake()) watch_.woken();
  if (closed_ || ended_ || (!readable_ && !writable_)) return;
  listen();
  if (watch_.awake()) return;
  asleep(true);
  if (ready()) look();
}

void RingStream::close() {
  if (std::exchange(closed_, true)) return;
  Stream::close();
  asio::post(socket().get_executor(),
             [self = std::static_pointer_cast<RingStream>(shared_from_this())] { self->look(); });
}

}  // namespace isthmus::net
