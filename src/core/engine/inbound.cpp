#include "core/engine/inbound.hpp"

#include <cstring>
#include <utility>

#include "core/base/words.hpp"

namespace isthmus::core {

namespace {

// Pieces come nearly in order. A peer with this many gaps means harm.
constexpr std::size_t kMaxGaps = std::size_t{1} << 16;

void put(RecvOp* op, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (op == nullptr || bytes.empty() || offset >= op->capacity) return;
  std::byte* const to = op->buffer + offset;
  if (bytes.data() == to) return;  // placed already
  const std::size_t room = op->capacity - static_cast<std::size_t>(offset);
  std::memcpy(to, bytes.data(), std::min(bytes.size(), room));
}

}  // namespace

bool Inbound::is_whole(const EnvelopeBody& body, std::size_t payload) const {
  return body.number == next_ && payload == body.envelope.size && room_for(charge(body)) &&
         (messages_.empty() || !messages_.contains(body.number));
}

void Inbound::pass(const EnvelopeBody& body) {
  due_ += charge(body);
  ++next_;
}

bool Inbound::has(const EnvelopeBody& body) const {
  if (body.number < next_) return true;
  const auto found = messages_.find(body.number);
  return found != messages_.end() && found->second.stage != Stage::Early;
}

bool Inbound::has(const PieceBody& piece, std::size_t payload) const {
  const auto found = messages_.find(piece.number);
  if (found == messages_.end()) return piece.number < next_;
  const Incoming& message = found->second;
  if (message.stage != Stage::Early && message.complete()) return true;  // maybe in one piece
  return message.arrived.contains(piece.offset, piece.offset + payload);
}

Incoming* Inbound::announce(const EnvelopeBody& body, std::size_t payload) {
  if (body.number < next_) return nullptr;
  const auto found = messages_.find(body.number);
  if (found != messages_.end()) {
    const Incoming& message = found->second;
    if (message.stage != Stage::Early || !body.charged) return nullptr;
    if (message.arrived.end() > body.ahead || message.arrived.overlaps(0, payload)) return nullptr;
    if (message.ahead_arrived > body.ahead - payload) return nullptr;
    held_ -= kMessageCharge + static_cast<std::size_t>(message.ahead_arrived);
  }
  // Compared before adding: `ahead` may be anything.
  if (body.charged && (!room_for(body.ahead) || !room_for(body.ahead + kMessageCharge))) {
    return nullptr;
  }
  if (!body.charged && ++uncharged_ > kMaxWaiting) return nullptr;
  held_ += charge(body);
  Incoming& message = found != messages_.end() ? found->second : messages_[body.number];
  message.body = body;
  message.peer = peer_;
  message.stage = Stage::Announced;
  return &message;
}

Incoming* Inbound::next_in_order() {
  if (messages_.empty()) return nullptr;
  const auto found = messages_.find(next_);
  if (found == messages_.end() || found->second.stage != Stage::Announced) return nullptr;
  ++next_;
  return &found->second;
}

Incoming* Inbound::accept(const PieceBody& piece, std::size_t payload) {
  const std::uint64_t end = piece.offset + payload;
  auto found = messages_.find(piece.number);
  if (found == messages_.end()) {
    if (piece.number < next_ || !room_for(kMessageCharge)) return nullptr;
    found = messages_.try_emplace(piece.number).first;
    found->second.body.number = piece.number;
    held_ += kMessageCharge;
  }
  Incoming& message = found->second;
  if (message.arrived.size() > kMaxGaps || message.arrived.overlaps(piece.offset, end)) {
    return nullptr;
  }
  if (message.stage == Stage::Early) {
    if (end > window_ || !room_for(payload)) return nullptr;
    held_ += payload;
    return &message;
  }
  if (piece.offset < message.body.ahead) {
    const bool fits =
        end <= message.body.ahead && payload <= message.body.ahead - message.ahead_arrived;
    return fits ? &message : nullptr;
  }
  const std::uint64_t rest = message.body.envelope.size - message.body.ahead;
  const bool fits = message.stage == Stage::Matched && !message.reading &&
                    end <= message.body.envelope.size && payload <= rest - message.granted_arrived;
  return fits ? &message : nullptr;
}

void Inbound::store(Incoming& message, std::uint64_t offset, std::span<const std::byte> bytes) {
  // A message that comes whole has no pieces, after it or instead of it.
  const bool whole =
      offset == 0 && bytes.size() == message.body.envelope.size && message.stage != Stage::Early;
  if (!whole) message.arrived.add(offset, offset + bytes.size());
  if (message.stage == Stage::Matched) {
    put(message.op, offset, bytes);
  } else if (message.stage == Stage::Early) {
    message.early.push_back({offset, {bytes.begin(), bytes.end()}});
  } else {
    if (!message.buffer) message.buffer = KeptBlock(static_cast<std::size_t>(message.body.ahead));
    std::byte* const to = message.buffer.get() + offset;
    if (bytes.data() != to) std::memcpy(to, bytes.data(), bytes.size());
  }
  if (message.stage == Stage::Matched && message.arrived.first_missing() >= message.lands_before) {
    release(message);
  }
  note_arrived(message, offset, bytes.size());
}

void Inbound::note_arrived(Incoming& message, std::uint64_t offset, std::size_t bytes) {
  const bool bound = message.stage == Stage::Matched;
  if (bound && offset >= message.body.ahead) {
    message.granted_arrived += bytes;
    return;
  }
  message.ahead_arrived += bytes;
  if (bound) {
    free(bytes);
  } else {
    buffered_ += bytes;
  }
}

void Inbound::spoil(Incoming& message, std::uint64_t offset, std::uint64_t bytes,
                    std::string_view why) {
  if (!message.spoilt) {
    // The window bounds words as it bounds bytes.
    message.spoilt = std::make_unique<const std::string>(
        peers_words(why, static_cast<std::size_t>(bytes) + kMessageCharge));
  }
  message.arrived.add(offset, offset + bytes);
  note_arrived(message, offset, static_cast<std::size_t>(bytes));
}

std::span<std::byte> Inbound::place(const PieceBody& piece, std::size_t payload) {
  Incoming* const message = find(piece.number);
  if (message == nullptr || message->stage == Stage::Early || payload == 0) return {};
  if (accept(piece, payload) == nullptr) return {};
  if (message->stage != Stage::Matched && message->buffer) {
    message->lands_before = std::max(message->lands_before, piece.offset + payload);
  }
  if (piece.offset < message->lands_before) return {message->buffer.get() + piece.offset, payload};
  if (message->op == nullptr) return {};
  const RecvOp& op = *message->op;
  if (piece.offset > op.capacity || payload > op.capacity - piece.offset) return {};
  return {op.buffer + piece.offset, payload};
}

std::span<std::byte> Inbound::behind(const PieceBody& piece, std::size_t payload) {
  const Incoming* const message = find(piece.number);
  const std::uint64_t begin = piece.offset + payload;
  // Later pieces go to the receive, which may be posted before they come.
  const bool received = message != nullptr && message->op != nullptr;
  if (!received || begin < message->lands_before) return {};
  const bool ahead = piece.offset < message->body.ahead;
  const std::uint64_t end = ahead ? message->body.ahead : message->body.envelope.size;
  if (begin >= end) return {};
  return place({.number = piece.number, .offset = begin}, static_cast<std::size_t>(end - begin));
}

void Inbound::bind(Incoming& message, RecvOp* op) {
  message.stage = Stage::Matched;
  message.op = op;
  if (message.buffer && !message.spoilt) {  // else nothing of it is of use
    // The missing bytes are uninitialized, and no receive may see them.
    const std::span<const std::byte> bytes(message.buffer.get(),
                                           static_cast<std::size_t>(message.body.ahead));
    if (message.arrived.size() == 0) {  // it came whole
      put(op, 0, bytes);
    } else {
      message.arrived.each([&](std::uint64_t begin, std::uint64_t end) {
        put(op, begin, bytes.subspan(begin, end - begin));
      });
    }
  }
  if (message.arrived.first_missing() >= message.lands_before) release(message);
  for (const Incoming::Chunk& chunk : message.early) put(op, chunk.offset, chunk.bytes);
  message.early = {};
  const auto arrived = static_cast<std::size_t>(message.ahead_arrived);
  buffered_ -= arrived;
  if (message.body.charged) {
    free(kMessageCharge + arrived);
  } else {
    --uncharged_;
  }
}

Incoming* Inbound::find(std::uint64_t number) {
  const auto found = messages_.find(number);
  return found == messages_.end() ? nullptr : &found->second;
}

Incoming* Inbound::find(const RecvOp& op) {
  for (auto& [number, message] : messages_) {
    if (message.op == &op) return &message;
  }
  return nullptr;
}

void Inbound::take(Incoming& message) {
  message.granted_arrived = message.body.envelope.size;
  grants_.push_back({message.body.number, FrameKind::Taken});
}

FrameKind Inbound::next_reply(BodyHead& head, std::size_t& size) {
  told_ += std::exchange(due_, 0);
  if (grants_.empty()) {
    size = encode(CreditBody{.credit = told_}, head);
    return FrameKind::Credit;
  }
  const Answer answer = grants_.front();
  grants_.pop_front();
  size = encode(GrantBody{.number = answer.number, .credit = told_}, head);
  return answer.kind;
}

}  // namespace isthmus::core
