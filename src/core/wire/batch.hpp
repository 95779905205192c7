// Small messages that share a frame: a Batch. The sender copies them into it one by one, so that
// each send is over at once. The receiver takes them as if each had come in an Envelope of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "core/wire/frame.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {

/// The messages of one body follow each other by number, in one context, from one source. All are
/// whole and charged to the window.
class Batches {
 public:
  /// Holds at most `most` bytes of bodies that no frame has taken.
  explicit Batches(std::size_t most) : most_(most) {}

  /// Copies a message whose number follows those added before, or a later one. False: it has no
  /// room, now or in any batch.
  bool add(std::uint64_t number, const Envelope& envelope, std::span<const std::byte> data);
  bool empty() const { return waiting_.empty(); }
  std::size_t bytes() const { return bytes_; }
  /// The next body, which must be there; it stays until the next call.
  std::span<const std::byte> next();
  /// Drops all that no frame has taken.
  void clear() {
    waiting_.clear();
    bytes_ = 0;
  }

 private:
  struct Batch {
    std::unique_ptr<std::byte[]> body;
    std::size_t size = 0;
    std::uint64_t next = 0;  // number of the message that may follow
    Envelope like;           // of the first message
  };

  Batch* open(std::uint64_t number, const Envelope& envelope, std::size_t bytes);

  const std::size_t most_;
  std::size_t bytes_ = 0;
  std::deque<Batch> waiting_;
  std::unique_ptr<std::byte[]> taken_, spare_;
};

/// Reads the messages of a Batch's body.
class BatchReader {
 public:
  explicit BatchReader(std::span<const std::byte> body);

  /// The next message; `payload` is part of the body. Empty at the end, or if malformed().
  std::optional<EnvelopeBody> next(std::span<const std::byte>& payload);
  /// The body is not a valid Batch, at least from here on.
  bool malformed() const { return malformed_; }

 private:
  std::span<const std::byte> rest_;
  EnvelopeBody message_;
  bool malformed_ = false;
};

/// The content of a frame of messages, as far as its body can be read: messages that begin in it,
/// and bytes of their payload.
struct Carried {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};
Carried carried_by(FrameKind kind, std::span<const std::byte> body);

}  // namespace isthmus::core
