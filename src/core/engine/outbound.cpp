#include "core/engine/outbound.hpp"

#include "core/world/limits.hpp"

namespace isthmus::core {

namespace {

// The limit for bytes of an announced message that the receiver takes now. A piece never crosses
// `ahead`: bytes before it are charged to the window, bytes behind it are not.
std::size_t wanted(const SendOp& op) {
  if (op.sent < op.ahead) return op.ahead;
  return op.granted ? op.data.size() : op.ahead;
}

// The limit for bytes that may go now, or be spoilt.
std::size_t limit(const SendOp& op) {
  return op.spoilt ? wanted(op) : std::min(wanted(op), op.ready);
}

// The first and the last `piece` bytes of a message travel in this many frames. Each fits into the
// bytes that a TCP stream may send at once when it begins (10 segments of 1448 bytes, RFC 6928),
// inside TLS and behind an acknowledgement.
constexpr std::size_t kFine = 6;

}  // namespace

Outbound::Outbound(const Limits& limits)
    : window_(limits.window),
      piece_(std::clamp<std::size_t>(limits.piece, 1, kMaxBody - BodyHead().size())),
      fine_head_(std::max(limits.fine_head, piece_)),
      left_(limits.window),
      batches_(limits.gathered) {}

// A hop passes on whole frames. A small first frame reaches the last hop sooner. A small last frame
// leaves it sooner: the message ends a small frame's time after that hop began to receive it.
std::size_t Outbound::cut(const SendOp& op) const {
  if (fine_head_ == kCoarse) return piece_;
  const std::size_t left = op.data.size() - op.sent + op.behind;
  const bool within = op.before + op.sent >= fine_head_ && left > piece_;
  return within ? piece_ : (piece_ + kFine - 1) / kFine;
}

std::size_t Outbound::next_size(const SendOp& op) const {
  return std::min(cut(op), limit(op) - op.sent);
}

void Outbound::push(SendOp& op) {
  op.number = next_number_++;
  op.sent = 0;
  op.ahead = 0;
  op.granted = false;
  op.lent = false;
  op.starved = false;
  chosen_ |= op.link != kAnyLink;
  unannounced_.push_back(op);
}

// An announced send, which is in no list, waits for its turn or for its bytes.
void Outbound::queue(SendOp& op) {
  op.starved = op.sent == limit(op) && op.sent < wanted(op);
  if (op.starved) {
    starved_.push_back(op);
  } else if (op.sent < limit(op)) {
    ready_.push_back(op);
  }
}

void Outbound::extend(SendOp& op) {
  if (!op.starved) return;
  starved_.erase(op);
  queue(op);
}

bool Outbound::gather(SendOp& op) {
  const std::size_t charge = kMessageCharge + op.data.size();
  if (op.synchronous || op.ready < op.data.size() || left_ < charge ||
      !batches_.add(next_number_, op.envelope, op.data)) {
    return false;
  }
  left_ -= charge;
  op.number = next_number_++;
  op.sent = op.ahead = op.data.size();
  op.waits = op.granted = false;
  return true;
}

SendOp& Outbound::next_envelope(bool bulky, BodyHead& head, std::size_t& head_size,
                                std::span<const std::byte>& payload) {
  SendOp& op = unannounced_.pop_front();
  const std::size_t size = op.data.size();
  EnvelopeBody body{.number = op.number, .envelope = op.envelope};
  if (left_ >= kMessageCharge) {
    body.charged = true;
    left_ -= kMessageCharge;
  }
  // A chosen link carries all bytes of its messages. The receiver may read a lent message at once.
  op.lent = size >= lends_from_ && op.link == kAnyLink && lent_ < kMostLent && op.ready >= size;
  if (op.lent) {
    ++lent_;
    body.lent = reinterpret_cast<std::uint64_t>(op.data.data());
  } else if (body.charged) {
    // A large message, which has to wait for its grant anyway, leaves room for small ones.
    const std::size_t reserve = size > piece_ ? window_ / 8 : 0;
    op.ahead = std::min(size, left_ - std::min(left_, reserve));
    left_ -= op.ahead;
  }
  op.waits = op.synchronous || !body.charged || op.ahead < size;
  if (op.waits) waiting_.emplace(op.number, &op);
  body.ahead = op.ahead;
  body.waits = op.waits;
  head_size = encode(body, head);
  payload = {};
  if (!op.spoilt) payload = op.data.first(std::min({op.ahead, cut(op), op.ready}));
  // The receiver reads no payload to its place before it knows the envelope, so that of a message
  // larger than a piece goes alone.
  const bool alone =
      size > piece_ || (!bulky && EnvelopeBody::kSize + payload.size() > kExpressBody);
  if (alone) payload = {};
  op.sent = payload.size();
  queue(op);
  return op;
}

FrameKind Outbound::next_piece(SendOp& op, BodyHead& head, std::size_t& head_size,
                               std::span<const std::byte>& payload) {
  const PieceBody piece{.number = op.number, .offset = op.sent};
  if (op.spoilt) {
    head_size = encode(SpoilBody{.piece = piece, .bytes = limit(op) - op.sent}, head);
    payload = std::as_bytes(std::span(*op.spoilt));
    op.sent = limit(op);
  } else {
    head_size = encode(piece, head);
    payload = op.data.subspan(op.sent, next_size(op));
    op.sent += payload.size();
  }
  if (op.sent == limit(op)) {
    ready_.erase(op);
    queue(op);
  }
  return op.spoilt ? FrameKind::Spoil : FrameKind::Piece;
}

SendOp* Outbound::taken(std::uint64_t number) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end() || !found->second->lent) return nullptr;
  SendOp& op = *found->second;
  waiting_.erase(found);
  --lent_;
  op.granted = true;
  op.sent = op.data.size();
  return &op;
}

SendOp* Outbound::grant(std::uint64_t number) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return nullptr;
  SendOp& op = *found->second;
  waiting_.erase(found);
  if (op.lent) --lent_;
  op.granted = true;
  if (!op.links.linked) queue(op);
  return &op;
}

std::vector<SendOp*> Outbound::fail() {
  std::vector<SendOp*> all;
  batches_.clear();
  while (!unannounced_.empty()) all.push_back(&unannounced_.pop_front());
  for (auto* const list : {&ready_, &starved_}) {
    while (!list->empty()) {
      SendOp& op = list->pop_front();
      if (!waiting_.contains(op.number)) all.push_back(&op);
    }
  }
  for (const auto& [number, op] : waiting_) all.push_back(op);
  waiting_.clear();
  lent_ = 0;
  return all;
}

void Outbound::replace(SendOp& op, SendOp& other) {
  const auto found = waiting_.find(op.number);
  const bool waits = found != waiting_.end() && found->second == &op;
  const bool announced = waits || op.ahead > 0 || op.granted;
  if (op.links.linked && announced) {
    ready_.replace(op, other);
  } else if (op.links.linked) {
    unannounced_.replace(op, other);
  }
  if (waits) found->second = &other;
}

bool Outbound::credit(std::uint64_t total) {
  if (total <= credited_) return true;  // overtaken by a later one
  if (total - credited_ > window_ - left_) return false;
  left_ += static_cast<std::size_t>(total - credited_);
  credited_ = total;
  return true;
}

}  // namespace isthmus::core
