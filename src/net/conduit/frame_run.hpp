// The frames that probably follow a large one: the next pieces of its message, as large as it is.
// One read takes them all, each payload to its place. Bytes that turn out to be something else are
// read again from where they are. Pure.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "core/wire/message_body.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::net {

class FrameRun {
 public:
  static constexpr std::size_t kHead = core::kHeaderSize + core::PieceBody::kSize;
  static constexpr std::size_t kMost = 3;
  /// Bytes read behind all of them, enough to know the next frame.
  static constexpr std::size_t kBehind = 1024;
  /// Bounds the bytes that rest() writes.
  static constexpr std::size_t kRest = kMost * (core::kHeaderSize + core::kMaxBody) + kBehind;
  using Parts = std::array<iovec, 2 * kMost + 1>;

  /// Expects frames like the one that begins with `head`, whose payloads go to `place` in order.
  /// Without `head` being a piece's, or without place, none.
  void expect(std::span<const std::byte> head, std::span<std::byte> place);
  bool empty() const { return expected_ == 0; }
  /// The memory to read to, all of it behind the frame that `expect` got. Returns the used part.
  std::span<const iovec> parts();
  /// The bytes that a read has put there.
  void came(std::size_t bytes) { left_ = bytes; }

  struct Frame {
    std::span<const std::byte> head;
    std::size_t payload = 0;  ///< its size
    std::size_t landed = 0;   ///< bytes of it that have come. Less than `payload`: it is the last
  };
  /// The next of the frames, if it is what was expected and its head has come.
  std::optional<Frame> next();
  /// When next() has found none: another piece has come in its place.
  bool missed() const;
  /// Copies what has come behind the last of them, in order, and ends the run.
  std::size_t rest(std::byte* to);

 private:
  std::array<std::array<std::byte, kHead>, kMost> heads_;    // as they have come
  std::array<std::array<std::byte, kHead>, kMost> expects_;  // with any sequence number
  std::array<std::span<std::byte>, kMost> places_;
  std::array<std::byte, kBehind> behind_;
  Parts parts_;
  std::size_t expected_ = 0;  // frames
  std::size_t next_ = 0;      // of them
  std::size_t left_ = 0;      // bytes that have come, from there on
};

}  // namespace isthmus::net
