#include "net/stream/stream_io.hpp"

#include <algorithm>
#include <array>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace isthmus::net {
namespace {

asio::awaitable<void> waited(Stream& stream, Stream::Wait what) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(std::error_code)>(
      [&stream, what](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        stream.wait(what, [kept](const std::error_code& error) { std::move (*kept)(error); });
      },
      asio::use_awaitable);
}

}  // namespace

asio::awaitable<std::size_t> read_some(Stream& stream, std::span<std::byte> into) {
  const iovec part{into.data(), into.size()};
  while (true) {
    const Stream::Moved moved = stream.read({&part, 1});
    if (moved.error) throw std::system_error(moved.error);
    if (moved.bytes > 0) co_return moved.bytes;
    if (moved.wait == Stream::Wait::Readable) co_await waited(stream, moved.wait);
  }
}

asio::awaitable<void> write_all(Stream& stream, std::span<const std::byte> bytes) {
  while (true) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    const Stream::Moved moved = stream.write({&part, bytes.empty() ? 0U : 1U});
    if (moved.error) throw std::system_error(moved.error);
    bytes = bytes.subspan(moved.bytes);
    if (moved.wait != Stream::Wait::None) {
      co_await waited(stream, moved.wait);
    } else if (bytes.empty()) {
      co_return;
    }
  }
}

std::span<const std::byte> FirstFrame::body() const {
  return std::span(read).subspan(core::kHeaderSize, header.body_size);
}

std::span<const std::byte> FirstFrame::rest() const {
  return std::span(read).subspan(core::kHeaderSize + header.body_size);
}

asio::awaitable<FirstFrame> read_frame(Stream& stream, std::size_t most,
                                       std::vector<std::byte> read) {
  std::array<std::byte, 1024> buffer;
  core::Decoded frame = core::decode(read);
  while (frame.state == core::Decoded::State::Incomplete) {
    if (frame.size > core::kHeaderSize + most) {
      throw std::runtime_error(stream.where() + " sent a frame that is too large to begin with");
    }
    // No more than the frame: what follows it is another's to read.
    const std::size_t most_now = std::min(buffer.size(), frame.size - read.size());
    const std::size_t n = co_await read_some(stream, std::span(buffer).first(most_now));
    read.insert(read.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n));
    frame = core::decode(read);
  }
  if (frame.state == core::Decoded::State::Malformed) {
    throw std::runtime_error(stream.where() + " sent " + frame.reason);
  }
  co_return FirstFrame{frame.header, std::move(read)};
}

}  // namespace isthmus::net
