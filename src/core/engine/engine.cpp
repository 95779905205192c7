#include "core/engine/engine.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/base/words.hpp"
#include "core/engine/engine_state.hpp"
#include "core/trace/trace.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {

Engine::Engine(NodeId self, Limits limits) : state_(std::make_unique<State>(self, limits)) {}
Engine::~Engine() = default;

void Engine::set_window(NodeId first, NodeId count, std::size_t window) {
  Limits limits = state_->limits;
  limits.window = window;
  state_->exceptions.push_back({first, count, limits});
}

bool Engine::send(SendOp& op) {
  State& s = *state_;
  s.start(op);
  if (s.has_failed(op.peer)) {
    s.fail(op);
    s.settle();
    return false;
  }
  Channel& channel = s.channel(op.peer);
  const std::size_t before = channel.out.gathered();
  op.link = s.link_of(op.envelope.context);
  // Frames that messages share go by any link.
  const bool gathered = op.peer != s.self && op.link == kAnyLink && channel.out.gather(op);
  if (gathered) {
    s.gathered += channel.out.gathered() - before;
    s.finish(op);
  } else {
    channel.out.push(op);
  }
  s.activate(channel);
  return gathered;
}

void Engine::extend(SendOp& op, std::size_t ready) {
  op.ready = std::max(op.ready, ready);
  if (op.state.load(std::memory_order_relaxed) != OpState::Active) return;
  Channel& channel = state_->channel(op.peer);
  channel.out.extend(op);
  state_->activate(channel);
}

void Engine::spoil(SendOp& op, std::string_view why) {
  if (op.state.load(std::memory_order_relaxed) != OpState::Active || op.spoilt ||
      op.ready >= op.data.size()) {
    return;
  }
  if (why.empty()) why = "unknown";
  op.spoilt = std::make_unique<const std::string>(cut_text(why, SpoilBody::kMostText));
  Channel& channel = state_->channel(op.peer);
  channel.out.extend(op);
  state_->activate(channel);
}

bool Engine::send_at_once(SendOp& op, OutFrame& out) {
  State& s = *state_;
  Channel& channel = s.channel(op.peer);
  op.link = s.link_of(op.envelope.context);
  if (op.peer == s.self || op.link != kAnyLink || s.next_is_piece() || !channel.out.passes(op) ||
      s.has_failed(op.peer)) {
    return false;
  }
  payload_copied();
  s.start(op);
  channel.out.push(op);
  s.next_envelope(channel, false, out);
  s.activate(channel);
  s.settle();
  return true;
}

void Engine::recv(RecvOp& op) {
  State& s = *state_;
  s.sweep_dropped();
  s.start(op);
  if (Incoming* message = s.matching.find_unexpected(op.context, op.source, op.tag)) {
    s.matching.remove_unexpected(*message);
    State::note_matched<trace::Event::UnexpectedMatched>(message->peer, message->envelope());
    if (op.tell != nullptr) op.tell->add(op);
    s.bind(s.channel(message->peer), *message, &op);
  } else if (op.from != kNobody && s.has_failed(op.from) && !s.matching.withheld(op.context)) {
    if (op.tell != nullptr) op.tell->add(op);
    s.fail(op);
  } else {
    trace::note<trace::Event::ReceivePosted>(op.context, op.source, op.tag, op.capacity);
    s.matching.post(op);
  }
  state_->settle();
}

bool Engine::cancel(RecvOp& op) {
  if (op.state.load(std::memory_order_relaxed) == OpState::Idle) return true;
  if (!state_->matching.unpost(op)) return false;
  op.state.store(OpState::Idle, std::memory_order_relaxed);
  --state_->outstanding;
  return true;
}

bool Engine::withhold(RecvOp& op) { return state_->matching.withhold(op); }

void Engine::release(RecvOp& op, bool served) {
  State& s = *state_;
  s.matching.release(op);
  if (served) cancel(op);
  s.match_again(op.context);
  if (!s.failed.empty()) s.fail_posted();
  state_->settle();
}

std::optional<Envelope> Engine::probe(std::uint64_t context, int source, int tag) const {
  const Incoming* message = state_->matching.find_unexpected(context, source, tag);
  if (message == nullptr) return std::nullopt;
  return message->envelope();
}

std::shared_ptr<Extracted> Engine::extract(std::uint64_t context, int source, int tag) {
  State& s = *state_;
  s.sweep_dropped();
  Incoming* message = s.matching.find_unexpected(context, source, tag);
  if (message == nullptr) return nullptr;
  State::note_matched<trace::Event::UnexpectedMatched>(message->peer, message->envelope());
  auto extracted = std::make_shared<Extracted>(*message, s.dropped);
  s.matching.remove_unexpected(*message);
  message->stage = Stage::Extracted;
  ++s.outstanding;
  return extracted;
}

const Envelope& Engine::envelope(const Extracted& message) { return message.envelope; }

void Engine::recv(const std::shared_ptr<Extracted>& message, RecvOp& op) {
  State& s = *state_;
  if (std::exchange(message->received, true)) {
    throw std::logic_error("an extracted message can be received only once");
  }
  s.start(op);
  --s.outstanding;
  Channel& channel = s.channel(message->peer);
  s.bind(channel, *channel.in.find(message->number), &op);
  state_->settle();
}

void Engine::post(NodeId peer, const Envelope& envelope, std::vector<std::byte> bytes) {
  std::list<Posted>& posted = state_->posted;
  Posted& op = posted.emplace_back(posted, std::move(bytes));
  op.place = std::prev(posted.end());
  op.peer = peer;
  op.envelope = envelope;
  send(op);
}

void Engine::choose_link(std::uint64_t context, LinkChoice link) {
  if (link == kAnyLink) {
    state_->chosen.erase(context);
  } else {
    state_->chosen[context] = link;
  }
}

void Engine::read_from(NodeId peer, Reader reader) {
  state_->channel(peer).read = std::make_shared<const Reader>(std::move(reader));
}

void Engine::lend_to(NodeId peer, std::size_t least) { state_->channel(peer).out.lend(least); }

void Engine::serve(std::uint64_t context, Service& service) {
  if ((context & kServiceContext) == 0) throw std::logic_error("this context cannot be served");
  state_->services.serve(context, service);
  state_->settle();
}

void Engine::end_service(std::uint64_t context) {
  state_->services.end(context);
  state_->settle();
}

std::size_t Engine::outstanding() const {
  state_->sweep_dropped();
  return state_->outstanding;
}

bool Engine::deliver(const InFrame& frame) {
  State& s = *state_;
  if (frame.destination != s.self || frame.source == kNobody || is_gateway(frame.source)) {
    return false;
  }
  if (s.has_failed(frame.source)) return true;
  if (frame.flags != 0) s.repeats = true;
  try {
    const bool good = take_in(frame);
    state_->settle();
    return good && !s.services.broken();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool Engine::take_in(const InFrame& frame) {
  State& s = *state_;
  switch (frame.kind) {
    case FrameKind::Envelope:
      return s.on_envelope(frame);
    case FrameKind::Batch:
      return s.on_batch(frame);
    case FrameKind::Piece:
      return s.on_piece(frame);
    case FrameKind::Spoil:
      return s.on_spoil(frame);
    case FrameKind::Grant:
    case FrameKind::Taken:
      return s.on_grant(frame);
    case FrameKind::Credit:
      return s.on_credit(frame);
    default:
      return false;
  }
}

Landing Engine::place(const InFrame& beginning) {
  State& s = *state_;
  if (beginning.kind != FrameKind::Piece || beginning.destination != s.self) return {};
  if (s.has_failed(beginning.source)) return {};
  const auto found = s.channels.find(beginning.source);
  const std::optional<PieceBody> piece = decode_piece(beginning.body, beginning.placed);
  if (!piece || found == s.channels.end()) return {};
  const std::size_t payload = beginning.body.size() + beginning.placed - PieceBody::kSize;
  Inbound& in = found->second.in;
  const std::span<std::byte> place = in.place(*piece, payload);
  if (place.empty()) return {};
  return {.payload = place, .behind = in.behind(*piece, payload)};
}

void Engine::set_fine_head(std::size_t bytes) { state_->limits.fine_head = bytes; }

bool Engine::next_frame(OutFrame& out, const Room& room) {
  payload_copied();
  state_->sweep_dropped();
  const bool found = state_->next_frame(out, room);
  state_->settle();
  return found;
}

bool Engine::loop_back(const OutFrame& out) {
  std::vector<std::byte> body(out.head.begin(),
                              out.head.begin() + static_cast<std::ptrdiff_t>(out.head_size));
  body.insert(body.end(), out.payload.begin(), out.payload.end());
  payload_copied();
  return deliver({out.kind, out.source, out.destination, body});
}

void Engine::payload_copied() {
  State& s = *state_;
  SendOp* op = std::exchange(s.borrowed, nullptr);
  if (op != nullptr && Outbound::finished(*op)) s.finish(*op);
  state_->settle();
}

bool Engine::payload_ends() const {
  const SendOp* const op = state_->borrowed;
  return op != nullptr && op->sent == op->data.size();
}

bool Engine::has_output() const {
  const State& s = *state_;
  return !s.replies.empty() || !s.envelopes.empty() || !s.pieces.empty() ||
         (s.borrowed != nullptr && Outbound::finished(*s.borrowed)) || s.dropped->any();
}

std::size_t Engine::gathered() const { return state_->gathered; }

std::uint64_t Engine::events() const { return state_->events; }

std::vector<Awaited> Engine::awaited(std::size_t most) const {
  std::vector<Awaited> all;
  state_->matching.each_posted([&](const RecvOp& op) {
    if (all.size() < most)
      all.push_back({.context = op.context, .source = op.source, .tag = op.tag});
  });
  for (const auto& [peer, channel] : state_->channels) {
    channel.out.each_waiting([&](const SendOp& op) {
      if (all.size() >= most || (op.envelope.context & kServiceContext) != 0) return;
      all.push_back(
          {.sent = true, .context = op.envelope.context, .peer = op.peer, .tag = op.envelope.tag});
    });
  }
  return all;
}

std::size_t Engine::buffered_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [peer, channel] : state_->channels) bytes += channel.in.buffered();
  return bytes;
}

Engine::PeerFigures Engine::figures(NodeId peer) const {
  const auto found = state_->channels.find(peer);
  if (found == state_->channels.end()) return {.window_left = state_->limits.window};
  const Channel& channel = found->second;
  return {.buffered = channel.in.buffered(),
          .window_left = channel.out.window_left(),
          .credit_due = channel.in.due()};
}

}  // namespace isthmus::core
