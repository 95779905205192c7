// Messages to one peer: their numbers, the window of bytes sent without a grant, and the cutting of
// messages into frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/intrusive_list.hpp"
#include "core/wire/batch.hpp"
#include "core/wire/frame.hpp"
#include "core/wire/message.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {

/// Messages that one peer may be lent at a time. Further ones go by frames, within the window.
inline constexpr std::size_t kMostLent = std::size_t{1} << 14;

class Outbound {
 public:
  explicit Outbound(const Limits& limits);

  /// The first `bytes` bytes of a message go in small frames from now on, at least a piece.
  void set_fine_head(std::size_t bytes) { fine_head_ = std::max(bytes, piece_); }

  /// Lends messages of `least` bytes or more from now on, up to kMostLent at a time.
  void lend(std::size_t least) { lends_from_ = std::max<std::size_t>(least, 1); }

  /// Queues a send; its envelope goes out after those of all sends before it.
  void push(SendOp& op);

  /// The message fits into a small frame, and no frame must go before it.
  bool passes(const SendOp& op) const {
    const std::size_t size = op.data.size();
    return size <= kExpressBody - EnvelopeBody::kSize && size < lends_from_ && !has_batch() &&
           unannounced_.empty() && waiting_.size() < kMaxWaiting && op.ready >= size;
  }

  /// Copies a small message into a batch, whose send is over then. False: it has done nothing; push
  /// the message.
  bool gather(SendOp& op);
  bool has_batch() const { return !batches_.empty(); }
  std::size_t gathered() const { return batches_.bytes(); }
  /// The body of the next frame of gathered messages, valid until the next call.
  std::span<const std::byte> next_batch() { return batches_.next(); }

  bool has_envelope() const { return !unannounced_.empty() && waiting_.size() < kMaxWaiting; }
  bool has_piece() const { return !ready_.empty(); }

  /// The next frame of its sort, which must be there: writes its head and its payload. The send
  /// is over when `finished(op)` holds afterwards. A Spoil replaces pieces of a send that is
  /// spoilt. An envelope that may not be `bulky` leaves the first bytes of a large message to
  /// pieces.
  SendOp& next_envelope(bool bulky, BodyHead& head, std::size_t& head_size,
                        std::span<const std::byte>& payload);
  FrameKind next_piece(SendOp& op, BodyHead& head, std::size_t& head_size,
                       std::span<const std::byte>& payload);
  /// The link of the next frame that is an envelope or a batch.
  LinkChoice envelope_link() const {
    const SendOp* const op = has_batch() ? nullptr : unannounced_.front();
    return op == nullptr ? kAnyLink : op->link;
  }
  /// The first send with a piece that has room by its link, as an express frame or as `bulk`. Null:
  /// no such send.
  template <class Room>
  SendOp* ready(Room&& room) const {
    SendOp* op = ready_.front();
    while (op != nullptr && !room(is_bulk(*op), op->link))
      op = chosen_ ? ready_.next(*op) : nullptr;
    return op;
  }
  /// More of a send that is not over is ready, or it is spoilt.
  void extend(SendOp& op);
  static bool finished(const SendOp& op) {
    return op.sent == op.data.size() && (!op.waits || op.granted);
  }

  /// The receiver has matched a message. Returns the send that waits for it, or null.
  [[nodiscard]] SendOp* grant(std::uint64_t number);
  /// The receiver has read a lent message. Returns the send that waits for it, or null.
  [[nodiscard]] SendOp* taken(std::uint64_t number);
  /// A message of this number has been sent.
  bool has_sent(std::uint64_t number) const { return number < next_number_; }
  /// `total` bytes are free again, ever. False: more than has been used.
  [[nodiscard]] bool credit(std::uint64_t total);
  std::size_t window_left() const { return left_; }
  /// The peer has failed: drops what is gathered, and returns the sends that are not over.
  std::vector<SendOp*> fail();
  /// `other`, of the same bytes, takes the place of a send that is not over.
  void replace(SendOp& op, SendOp& other);
  /// Sends whose messages the receiver has not matched, if it reports that.
  template <class Each>
  void each_waiting(Each&& each) const {
    for (const auto& [number, op] : waiting_) each(*op);
  }

 private:
  void queue(SendOp& op);
  std::size_t cut(const SendOp& op) const;
  std::size_t next_size(const SendOp& op) const;
  /// The next piece of a send is more than an express frame; the last one is often less.
  bool is_bulk(const SendOp& op) const {
    return op.spoilt == nullptr && PieceBody::kSize + next_size(op) > kExpressBody;
  }

  std::size_t window_, piece_, fine_head_;
  std::size_t lends_from_ = std::numeric_limits<std::size_t>::max();
  std::size_t lent_ = 0;  // messages that the receiver may still read
  std::size_t left_;
  std::uint64_t credited_ = 0;
  std::uint64_t next_number_ = 0;
  bool chosen_ = false;  // a send has had a link of its own
  Batches batches_;
  IntrusiveList<SendOp, &SendOp::links> unannounced_;
  IntrusiveList<SendOp, &SendOp::links> ready_;  // announced, with bytes that may go
  IntrusiveList<SendOp, &SendOp::links> starved_;
  std::unordered_map<std::uint64_t, SendOp*> waiting_;
};

}  // namespace isthmus::core
