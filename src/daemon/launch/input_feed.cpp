#include "daemon/launch/input_feed.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <system_error>

#include "daemon/host/beside.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/child.hpp"
#include "net/door/connect.hpp"

namespace isthmus::daemon {
namespace {

constexpr int kProgram = 3;  // the descriptors of the process beside the rank
constexpr int kVerdict = 4;
constexpr char kLetIn = '+';

// False when nobody reads any more.
bool pass_on(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (written < 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// Takes the stream's blocks apart.
class Blocks {
 public:
  bool over = false;  // the end of input was there, or nobody reads any more

  void take(const char* bytes, std::size_t size) {
    while (size > 0 && !over) {
      if (left_ == 0) {
        size_ |= static_cast<std::uint32_t>(static_cast<unsigned char>(*bytes)) << shift_;
        ++bytes;
        --size;
        shift_ += 8;
        if (shift_ < 32) continue;
        over = size_ == 0;
        left_ = std::exchange(size_, 0);
        shift_ = 0;
        continue;
      }
      const std::size_t part = std::min<std::size_t>(left_, size);
      over = !pass_on(kProgram, bytes, part);
      left_ -= static_cast<std::uint32_t>(part);
      bytes += part;
      size -= part;
    }
  }

 private:
  std::uint32_t size_ = 0, left_ = 0;
  int shift_ = 0;
};

// Throws std::system_error if the connection breaks.
asio::awaitable<void> relay(std::shared_ptr<net::Stream> stream) {
  Blocks blocks;
  std::array<char, 65536> buffer{};
  while (true) {
    const iovec part{buffer.data(), buffer.size()};
    const net::Stream::Moved moved = stream->read({&part, 1});
    blocks.take(buffer.data(), moved.bytes);
    if (blocks.over) co_return;
    if (moved.error) throw std::system_error(moved.error);
    if (moved.wait != net::Stream::Wait::None) {
      co_await stream->socket().async_wait(moved.wait == net::Stream::Wait::Readable
                                               ? net::Socket::wait_read
                                               : net::Socket::wait_write,
                                           asio::use_awaitable);
    }
  }
}

bool somebody_reads() {
  pollfd end{kProgram, 0, 0};
  return poll(&end, 1, 0) == 0;
}

asio::awaitable<void> fetch(InputAddress address, pid_t rank, asio::io_context& io) {
  std::shared_ptr<net::Stream> stream;
  std::string trouble;
  try {
    const net::ConnectOptions options;
    stream = co_await net::connect(address.addresses, address.credentials, options);
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  const std::string verdict = stream ? std::string(1, kLetIn) : trouble;
  pass_on(kVerdict, verdict.data(), verdict.size());
  close(kVerdict);
  if (stream) {
    try {
      co_await relay(stream);
    } catch (const std::exception& error) {
      if (somebody_reads()) {
        std::cerr << "isthmus: standard input of rank 0 broke off on its way to " << host_name()
                  << ": " << error.what() << std::endl;
        kill(rank, SIGKILL);
      }
    }
  }
  io.stop();
}

void work(const InputAddress& address, pid_t rank) {
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context io;
  asio::co_spawn(io, fetch(address, rank, io), asio::detached);
  asio::posix::stream_descriptor program(io, kProgram);
  program.async_wait(asio::posix::stream_descriptor::wait_error,
                     [&io](std::error_code error) {  // the rank has ended, or closed its input
                       if (!error) io.stop();
                     });
  io.run();
}

}  // namespace

FileDescriptor fetch_input(const InputAddress& address, pid_t rank) {
  Pipe input = make_pipe();
  Pipe verdict = make_pipe();
  const bool started = start_beside("isthmus-input", {input.write.get(), verdict.write.get()},
                                    [&] { work(address, rank); });
  input.write.reset();
  verdict.write.reset();
  std::string said = started ? "" : "no process can be started";
  std::array<char, 512> block{};
  ssize_t got = 0;
  while (started && ((got = read(verdict.read.get(), block.data(), block.size())) > 0 ||
                     (got < 0 && errno == EINTR))) {
    if (got > 0) said.append(block.data(), static_cast<std::size_t>(got));
  }
  if (!said.empty() && said.front() == kLetIn) return std::move(input.read);
  if (said.empty()) said = "the process that passes it on ended";
  throw Failure("standard input does not reach " + host_name() + ": " + said,
                "Reading it fails there: let the program read a file.");
}

}  // namespace isthmus::daemon
