#include "core/engine/engine_state.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace isthmus::core {
namespace {

/// Another run may send in contexts that it has been given, and to their services. These contexts
/// are drawn at random. It may not send in contexts that can be guessed, nor to services of all
/// processes.
bool is_for_guests(std::uint64_t context) {
  constexpr std::uint64_t kRandom = std::uint64_t{1} << 57;
  return (context & kRandom) != 0;
}

}  // namespace

Channel& Engine::State::find_or_make_channel(NodeId peer) {
  if (exceptions.empty()) return channels.try_emplace(peer, peer, limits).first->second;
  if (const auto known = channels.find(peer); known != channels.end()) return known->second;
  const auto of = std::find_if(exceptions.begin(), exceptions.end(), [peer](const Exception& each) {
    return peer >= each.first && peer - each.first < each.count;
  });
  return channels.try_emplace(peer, peer, of == exceptions.end() ? limits : of->limits)
      .first->second;
}

void Engine::State::activate(Channel& channel) {
  if (channel.in.has_reply() && !channel.reply_links.linked) replies.push_back(channel);
  const bool announces = channel.out.has_batch() || channel.out.has_envelope();
  if (announces && !channel.envelope_links.linked) envelopes.push_back(channel);
  if (channel.out.has_piece() && !channel.piece_links.linked) pieces.push_back(channel);
}

void Engine::State::tell_over() {
  settling = true;
  while (!over.empty()) {
    for (Op* const op : std::exchange(over, {})) op->then->over(*op);
  }
  settling = false;
}

// ---- completion --------------------------------------------------------------------------------

void Engine::State::start(RecvOp& op) {
  op.received = 0;
  op.prefix.store(0, std::memory_order_relaxed);
  op.peer = kNobody;
  op.number = 0;
  op.error = OpError::None;
  op.spoilt.reset();
  op.state.store(OpState::Active, std::memory_order_relaxed);
  ++outstanding;
}

void Engine::State::start(SendOp& op) {
  op.envelope.size = op.data.size();
  op.error = OpError::None;
  op.spoilt.reset();
  op.state.store(OpState::Active, std::memory_order_relaxed);
  ++outstanding;
  trace::note<trace::Event::SendBegun>(op.peer, op.envelope.context, op.envelope.tag,
                                       op.envelope.size);
}

void Engine::State::tell_prefix(RecvOp& op, std::uint64_t prefix) {
  const auto stored = static_cast<std::size_t>(std::min<std::uint64_t>(prefix, op.capacity));
  if (op.follow == 0 || stored < op.prefix.load(std::memory_order_relaxed) + op.follow) return;
  op.prefix.store(stored, std::memory_order_release);
  ++events;
}

void Engine::State::finish(RecvOp& op, const Envelope& envelope, NodeId peer,
                           std::uint64_t number) {
  op.envelope = envelope;
  op.peer = peer;
  op.number = number;
  op.received = static_cast<std::size_t>(std::min<std::uint64_t>(envelope.size, op.capacity));
  op.error = envelope.size > op.capacity ? OpError::Truncated : OpError::None;
  if (op.spoilt) {
    op.received = 0;
    op.error = OpError::Spoilt;
  }
  --outstanding;
  ++events;
  note_matched<trace::Event::ReceiveDone>(peer, envelope);
  if (op.then != nullptr) over.push_back(&op);
  op.state.store(OpState::Done, std::memory_order_release);
}

void Engine::State::finish(SendOp& op) {
  trace::note<trace::Event::SendDone>(op.peer, op.envelope.context, op.envelope.tag,
                                      op.envelope.size);
  --outstanding;
  ++events;
  if (op.then != nullptr) over.push_back(&op);
  op.state.store(OpState::Done, std::memory_order_release);
}

void Engine::State::complete(Channel& channel, Incoming& message) {
  if (message.op != nullptr) {
    RecvOp& op = *message.op;
    op.spoilt = std::move(message.spoilt);
    finish(op, message.envelope(), message.peer, message.body.number);
  }
  channel.in.erase(message);
}

void Engine::State::bind(Channel& channel, Incoming& message, RecvOp* op) {
  channel.in.bind(message, op);
  if (has_failed(channel.peer)) return end_bound(channel, message);
  if (message.body.lent) {
    read_lent(channel, message);
  } else if (message.body.waits) {
    channel.in.grant(message.body.number);
  }
  if (message.complete()) {
    complete(channel, message);
  } else if (op != nullptr && !message.spoilt) {
    tell_prefix(*op, message.arrived.first_missing());
  }
  activate(channel);
}

void Engine::State::sweep_dropped() {
  if (!dropped->any()) return;
  for (const auto& [peer, number] : dropped->take()) {
    --outstanding;
    Channel& from = channel(peer);
    if (Incoming* const message = from.in.find(number)) bind(from, *message, nullptr);
  }
}

// ---- arrivals ----------------------------------------------------------------------------------

bool Engine::State::sequence(Channel& from, Incoming& message) {
  if ((message.envelope().context & kServiceContext) != 0) {
    if (message.spoilt) return false;  // no service has data of its own come by and by
    note_matched<trace::Event::MessageMatched>(message.peer, message.envelope());
    return services.add(message);
  }
  if (RecvOp* op = matching.take_posted(message.envelope())) {
    note_matched<trace::Event::MessageMatched>(message.peer, message.envelope());
    bind(from, message, op);
  } else {
    note_matched<trace::Event::MessageUnexpected>(message.peer, message.envelope());
    message.stage = Stage::Unexpected;
    matching.add_unexpected(message);
    ++events;
  }
  return true;
}

bool Engine::State::sequence_all(Channel& from) {
  while (Incoming* next = from.in.next_in_order()) {
    if (!sequence(from, *next)) return false;
  }
  return true;
}

void Engine::State::match_again(std::uint64_t context) {
  Incoming* next = nullptr;
  for (Incoming* message = matching.first_unexpected(context); message != nullptr; message = next) {
    next = Matching::next_unexpected(*message);
    RecvOp* const op = matching.take_posted(message->envelope());
    if (op == nullptr) continue;
    matching.remove_unexpected(*message);
    note_matched<trace::Event::UnexpectedMatched>(message->peer, message->envelope());
    bind(channel(message->peer), *message, op);
  }
}

bool Engine::State::on_envelope(const InFrame& frame) {
  const std::optional<EnvelopeBody> body = decode_envelope(frame.body);
  if (!body) return false;
  Channel& from = channel(frame.source);
  if (body->lent) return from.read != nullptr && take(frame.source, from, *body, {});
  return take(frame.source, from, *body, frame.body.subspan(EnvelopeBody::kSize));
}

bool Engine::State::on_batch(const InFrame& frame) {
  Channel& from = channel(frame.source);
  BatchReader reader(frame.body);
  std::span<const std::byte> payload;
  while (const auto message = reader.next(payload)) {
    if (!take(frame.source, from, *message, payload)) return false;
  }
  return !reader.malformed();
}

bool Engine::State::take(NodeId source, Channel& from, const EnvelopeBody& body,
                         std::span<const std::byte> payload) {
  if (repeats && from.in.has(body)) return true;
  const auto is_source = [source](const Exception& each) {
    return source >= each.first && source - each.first < each.count;
  };
  if (!exceptions.empty() && !is_for_guests(body.envelope.context) &&
      std::any_of(exceptions.begin(), exceptions.end(), is_source)) {
    return true;
  }

  RecvOp* op = nullptr;
  Service* service = nullptr;
  if (from.in.is_whole(body, payload.size())) {
    if ((body.envelope.context & kServiceContext) != 0) {
      service = services.ready_for(body.envelope.context, source);
    } else {
      op = matching.take_posted(body.envelope);
    }
  }
  if (service != nullptr) {
    note_matched<trace::Event::MessageMatched>(source, body.envelope);
    from.in.pass(body);
    if (body.waits) from.in.grant(body.number);
    ++events;
    settling = true;  // operations begun by the service may end only after it
    const bool good = service->take(source, body.envelope, payload);
    settling = false;
    if (!good) return false;
    note_matched<trace::Event::ReceiveDone>(source, body.envelope);
    if (!sequence_all(from)) return false;
  } else if (op != nullptr) {
    note_matched<trace::Event::MessageMatched>(source, body.envelope);
    from.in.pass(body);
    const std::size_t stored = std::min(payload.size(), op->capacity);
    if (stored > 0) std::memcpy(op->buffer, payload.data(), stored);
    if (body.waits) from.in.grant(body.number);
    finish(*op, body.envelope, source, body.number);
    if (!sequence_all(from)) return false;
  } else {
    Incoming* message = from.in.announce(body, payload.size());
    if (message == nullptr) return false;
    // Matched first, so that the bytes go straight to their place. A message that lacks these bytes
    // is not complete, so it is still there.
    if (!sequence_all(from)) return false;
    if (!payload.empty()) store(from, *message, 0, payload);
  }
  activate(from);
  return true;
}

void Engine::State::store(Channel& from, Incoming& message, std::uint64_t offset,
                          std::span<const std::byte> bytes) {
  from.in.store(message, offset, bytes);
  note_stored(from, message);
}

void Engine::State::note_stored(Channel& from, Incoming& message) {
  if (message.stage != Stage::Matched) return;
  if (message.complete()) {
    complete(from, message);
  } else if (message.op != nullptr && !message.spoilt) {
    tell_prefix(*message.op, message.arrived.first_missing());
  }
}

bool Engine::State::on_piece(const InFrame& frame) {
  const std::optional<PieceBody> body = decode_piece(frame.body, frame.placed);
  if (!body) return false;
  std::span<const std::byte> payload = frame.body.subspan(PieceBody::kSize);
  Channel& from = channel(frame.source);
  const std::size_t size = payload.size() + frame.placed;
  if (repeats && from.in.has(*body, size)) return true;
  if (frame.placed > 0) {
    if (!payload.empty()) return false;
    payload = from.in.place(*body, size);
    if (payload.empty()) return false;
  }
  Incoming* message = from.in.accept(*body, size);
  if (message == nullptr) return false;
  store(from, *message, body->offset, payload);
  activate(from);
  return true;
}

bool Engine::State::on_spoil(const InFrame& frame) {
  const std::optional<SpoilBody> body = decode_spoil(frame.body);
  if (!body || frame.placed > 0) return false;
  Channel& from = channel(frame.source);
  const auto size = static_cast<std::size_t>(body->bytes);
  if (repeats && from.in.has(body->piece, size)) return true;
  Incoming* const message = from.in.accept(body->piece, size);
  if (message == nullptr) return false;
  const bool sequenced = message->stage != Stage::Early && message->stage != Stage::Announced;
  if (sequenced && (message->envelope().context & kServiceContext) != 0) return false;
  const auto why = frame.body.subspan(SpoilBody::kSize);
  from.in.spoil(*message, body->piece.offset, size,
                {reinterpret_cast<const char*>(why.data()), why.size()});
  note_stored(from, *message);
  activate(from);
  return true;
}

bool Engine::State::on_grant(const InFrame& frame) {
  const std::optional<GrantBody> body = decode_grant(frame.body);
  const auto found = channels.find(frame.source);
  if (!body || found == channels.end()) return false;
  Channel& to = found->second;
  if (!to.out.credit(body->credit)) return false;
  const bool taken = frame.kind == FrameKind::Taken;
  SendOp* op = taken ? to.out.taken(body->number) : to.out.grant(body->number);
  if (op == nullptr) return repeats && to.out.has_sent(body->number);
  if (op != borrowed && Outbound::finished(*op)) finish(*op);
  activate(to);
  return true;
}

bool Engine::State::on_credit(const InFrame& frame) {
  const std::optional<CreditBody> body = decode_credit(frame.body);
  const auto found = channels.find(frame.source);
  return body && found != channels.end() && found->second.out.credit(body->credit);
}

// ---- output ------------------------------------------------------------------------------------

// Envelopes go before pieces, so that small messages overtake large ones, but a stream of them
// does not keep the large ones from moving.
bool Engine::State::next_is_piece() const {
  if (pieces.empty()) return false;
  return envelopes.empty() || since_piece >= 4 * limits.piece;
}

namespace {

// The first of a list of channels for which `ready` holds.
template <class List, class Ready>
Channel* first(const List& list, Ready&& ready) {
  Channel* channel = list.front();
  while (channel != nullptr && !ready(*channel)) channel = List::next(*channel);
  return channel;
}

}  // namespace

bool Engine::State::next_frame(OutFrame& out, const Room& room) {
  out.source = self;
  out.payload = {};
  out.link = kAnyLink;
  out.lent = 0;
  out.counted = false;
  const auto takes = [&room](const Channel& to, bool bulk, LinkChoice link) {
    return !room || room(to.peer, bulk, link);
  };
  const auto takes_reply = [&](const Channel& to) { return takes(to, false, kAnyLink); };
  const auto takes_envelope = [&](const Channel& to) {
    return takes(to, false, to.out.envelope_link());
  };
  SendOp* large = nullptr;  // of the channel that was found
  const auto takes_piece = [&](Channel& to) {
    to.out.set_fine_head(limits.fine_head);  // sets the size of the piece
    large = to.out.ready([&](bool bulk, LinkChoice link) { return takes(to, bulk, link); });
    return large != nullptr;
  };
  while (Channel* const to = first(replies, takes_reply)) {
    replies.erase(*to);
    if (!to->in.has_reply()) continue;
    out.destination = to->peer;
    out.kind = to->in.next_reply(out.head, out.head_size);
    activate(*to);
    return true;
  }
  Channel* to = next_is_piece() ? first(pieces, takes_piece) : nullptr;
  const bool due = to != nullptr;
  if (to == nullptr) to = first(envelopes, takes_envelope);
  const bool piece = due || to == nullptr;
  if (to == nullptr) to = first(pieces, takes_piece);
  if (to == nullptr) return false;
  if (piece) {
    pieces.erase(*to);
  } else {
    envelopes.erase(*to);
  }
  if (!piece && to->out.has_batch()) {
    out.head_size = 0;
    out.payload = to->out.next_batch();
    gathered -= out.payload.size();
    since_piece += out.payload.size();
    out.destination = to->peer;
    out.kind = FrameKind::Batch;
    activate(*to);
    return true;
  }
  if (!piece) {
    next_envelope(*to, takes(*to, true, to->out.envelope_link()), out);
  } else {
    const FrameKind kind = to->out.next_piece(*large, out.head, out.head_size, out.payload);
    out.counted = large->lent;
    since_piece = 0;
    borrow(*large, *to, kind, out);
  }
  activate(*to);
  return true;
}

void Engine::State::next_envelope(Channel& to, bool bulky, OutFrame& out) {
  out.source = self;
  to.out.set_fine_head(limits.fine_head);
  SendOp& op = to.out.next_envelope(bulky, out.head, out.head_size, out.payload);
  if (op.lent) out.lent = op.data.size();
  since_piece += out.payload.size();
  borrow(op, to, FrameKind::Envelope, out);
}

// The frame holds bytes of the send, or it is over.
void Engine::State::borrow(SendOp& op, Channel& to, FrameKind kind, OutFrame& out) {
  out.kind = kind;
  out.destination = to.peer;
  out.link = op.link;
  if (!out.payload.empty()) {
    borrowed = &op;
  } else if (Outbound::finished(op)) {
    finish(op);
  }
}

}  // namespace isthmus::core
