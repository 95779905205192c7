// Reading and writing streams from coroutines, before a conduit has them.
#pragma once

#include <asio/awaitable.hpp>
#include <cstddef>
#include <span>
#include <vector>

#include "core/wire/wire.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

/// At least one byte. Throws std::system_error.
asio::awaitable<std::size_t> read_some(Stream& stream, std::span<std::byte> into);
/// Throws std::system_error.
asio::awaitable<void> write_all(Stream& stream, std::span<const std::byte> bytes);

/// A frame that no conduit has yet, and all bytes that were read with it.
struct FirstFrame {
  core::FrameHeader header;
  std::vector<std::byte> read;
  std::span<const std::byte> body() const;
  std::span<const std::byte> rest() const;  ///< what came behind it
};
/// `read` has come already. Throws std::system_error. Throws std::runtime_error with a sentence if
/// the bytes are not a frame, or its body is larger than `most`.
asio::awaitable<FirstFrame> read_frame(Stream& stream, std::size_t most,
                                       std::vector<std::byte> read = {});

}  // namespace isthmus::net
