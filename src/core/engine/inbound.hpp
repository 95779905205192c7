// The messages from one peer: order restoring, reassembly, the bound on buffered bytes, and the
// grants and credits that go back. Knows nothing of matching.
//
// The first `ahead` bytes of a message come without a grant. They, and kMessageCharge for the
// message itself, are charged to the peer's window until the message is matched and they have
// arrived, or arrive afterwards. Then they are free, due as credit, and reported to the peer in
// batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/intrusive_list.hpp"
#include "core/base/kept_memory.hpp"
#include "core/base/ranges.hpp"
#include "core/wire/frame.hpp"
#include "core/wire/message.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {

enum class Stage : std::uint8_t {
  Early,       ///< pieces have come before the envelope
  Announced,   ///< the envelope has come, not yet those of all earlier messages
  Unexpected,  ///< in order, matched by no receive yet
  Extracted,   ///< out of matching, not yet received
  Matched,     ///< bytes go to the receive, or nowhere when that is null
};

/// A message on its way in.
struct Incoming {
  struct Chunk {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };

  EnvelopeBody body;  ///< in stage Early only its number is known
  NodeId peer = kNobody;
  Stage stage = Stage::Early;
  RecvOp* op = nullptr;
  bool reading = false;  ///< it is lent, and read in pieces: no piece is requested
  std::uint64_t ahead_arrived = 0;
  std::uint64_t granted_arrived = 0;
  KeptBlock buffer;                ///< of body.ahead bytes, once needed
  std::uint64_t lands_before = 0;  ///< pieces that begin before this may be landing in `buffer`
  std::vector<Chunk> early;
  Ranges arrived;                             ///< of its bytes, also those that are spoilt
  std::unique_ptr<const std::string> spoilt;  ///< why some never come; null: they do
  Links<Incoming> links;

  const Envelope& envelope() const { return body.envelope; }
  bool complete() const { return ahead_arrived + granted_arrived == body.envelope.size; }
};

class Inbound {
 public:
  Inbound(NodeId peer, const Limits& limits) : peer_(peer), window_(limits.window) {}

  // ---- arrivals; false or null: the peer breaks the protocol ---------------------------------

  /// Whether a whole message that is next in order has come in one frame, the usual case for small
  /// ones. No `Incoming` is needed if a receive takes it: then call pass().
  bool is_whole(const EnvelopeBody& body, std::size_t payload) const;
  void pass(const EnvelopeBody& body);

  /// The frame has arrived before.
  bool has(const EnvelopeBody& body) const;
  bool has(const PieceBody& piece, std::size_t payload) const;

  /// Takes in an envelope; store its payload, of that many bytes, afterwards.
  [[nodiscard]] Incoming* announce(const EnvelopeBody& body, std::size_t payload);
  /// The announced message that is next in order, or null when it has not come yet.
  Incoming* next_in_order();
  /// The message of a piece, checked and ready for store().
  [[nodiscard]] Incoming* accept(const PieceBody& piece, std::size_t payload);
  void store(Incoming& message, std::uint64_t offset, std::span<const std::byte> bytes);
  /// Counts these bytes as arrived, although they never come. `why` is kept as far as the window
  /// holds as much for them.
  void spoil(Incoming& message, std::uint64_t offset, std::uint64_t bytes, std::string_view why);
  /// The place for a piece's bytes that are not stored yet: in the receive of its message, if that
  /// has room for all of them, or in the memory that keeps a message until its receive. Else empty.
  std::span<std::byte> place(const PieceBody& piece, std::size_t payload);
  /// The place for all bytes behind such a piece that may come as pieces now, if none is stored.
  std::span<std::byte> behind(const PieceBody& piece, std::size_t payload);

  /// Gives a message its receive (null: drop the message) and moves the bytes that have arrived
  /// there.
  void bind(Incoming& message, RecvOp* op);
  /// Forgets a message: matched and complete.
  void erase(Incoming& message) { messages_.erase(message.body.number); }
  /// Null: unknown message.
  Incoming* find(std::uint64_t number);
  /// The message that comes into a receive, or null.
  Incoming* find(const RecvOp& op);
  /// The peer has failed. Forgets the messages for which `ends` holds.
  template <class Ends>
  void forget_if(Ends&& ends) {
    for (auto next = messages_.begin(); next != messages_.end();) {
      Incoming& message = next->second;
      if (!ends(message)) {
        ++next;
        continue;
      }
      const bool bound = message.stage == Stage::Matched;
      if (!bound) buffered_ -= static_cast<std::size_t>(message.ahead_arrived);
      next = messages_.erase(next);
    }
    grants_.clear();
  }

  // ---- what goes back -------------------------------------------------------------------------

  void grant(std::uint64_t number) { grants_.push_back({number, FrameKind::Grant}); }
  /// A lent message, bound, has been read.
  void take(Incoming& message);
  bool has_reply() const { return !grants_.empty() || credit_is_worth_telling(); }
  /// Writes the next reply, a Grant, a Taken or a Credit; has_reply() must hold.
  FrameKind next_reply(BodyHead& head, std::size_t& size);

  std::size_t buffered() const { return buffered_; }
  std::size_t due() const { return due_; }

 private:
  void note_arrived(Incoming& message, std::uint64_t offset, std::size_t bytes);
  /// Nothing lands in its buffer any more.
  static void release(Incoming& message) {
    message.buffer.reset();
    message.lands_before = 0;
  }
  static std::size_t charge(const EnvelopeBody& body) {
    return body.charged ? kMessageCharge + static_cast<std::size_t>(body.ahead) : 0;
  }
  bool room_for(std::uint64_t bytes) const { return held_ <= window_ && bytes <= window_ - held_; }
  void free(std::size_t bytes) {
    held_ -= bytes;
    due_ += bytes;
  }
  bool credit_is_worth_telling() const {
    return due_ > 0 && due_ >= std::min(window_ / 4, kMostUntold);
  }

  // Bytes that are free but not reported are missing at the sender.
  static constexpr std::size_t kMostUntold = std::size_t{2} << 20;

  const NodeId peer_;
  const std::size_t window_;
  std::uint64_t next_ = 0;     // number of the message that is next in order
  std::size_t held_ = 0;       // charged and not yet free
  std::size_t due_ = 0;        // free and not yet reported
  std::uint64_t told_ = 0;     // free and reported, ever
  std::size_t buffered_ = 0;   // payload bytes in our memory
  std::size_t uncharged_ = 0;  // messages, neither matched nor charged
  std::unordered_map<std::uint64_t, Incoming> messages_;
  struct Answer {
    std::uint64_t number;
    FrameKind kind;
  };
  std::deque<Answer> grants_;
};

}  // namespace isthmus::core
