// The sending half of a conduit, its streams and its end.
#include "core/conduit/conduit.hpp"

#include <algorithm>

#include "core/base/time_text.hpp"
#include "core/trace/trace.hpp"
#include "core/wire/batch.hpp"

namespace isthmus::core {
namespace {

using Stream = ConduitStreams::Stream;

// Smaller frames are not worth a call of the compressor.
constexpr std::size_t kLeastCompressed = 2048;
// On short paths, where no frame is late (LateFrames). Each delay ends with a timer that wakes the
// thread, also if data has taken the acknowledgement along. A gateway that passed on 8 B woke 1.15
// times for each with 1 ms, and 1.05 times with 4 ms (29 November 2026).
constexpr Time kNearAckDelay = std::chrono::milliseconds(4);

}  // namespace

Conduit::Conduit(ConduitConfig config, Time now)
    : config_(std::move(config)),
      in_(config_.window),
      streams_(config_.patience, config_.stream_timeout, now, config_.self > config_.peer) {}

StreamId Conduit::stream_up(Time now) {
  const StreamId id = streams_.up(now);
  trace::note<trace::Event::StreamUp>(config_.peer, id, streams_.size());
  return id;
}

void Conduit::stream_down(StreamId id) {
  if (!streams_.down(id)) return;
  sent_.lose(id);
  late_.stream_down(id, sent_);
  in_.report_anew();
  trace::note<trace::Event::StreamDown>(config_.peer, id, streams_.size(), sent_.lost());
}

void Conduit::probe(StreamId id, std::size_t bytes) {
  Stream* const stream = streams_.find(id);
  if (stream == nullptr) return;
  stream->probe = bytes;
  if (stream->hello_received) streams_.owe(*stream, &Stream::probe_due);
}

bool Conduit::probed(StreamId id) const {
  const Stream* const stream = streams_.find(id);
  return stream != nullptr && stream->probed;
}

void Conduit::set_patience(Time patience) {
  config_.patience = patience;
  streams_.set_patience(patience);
}

std::optional<Time> Conduit::deadline() const {
  if (!dead_.empty()) return std::nullopt;
  Time next = streams_.deadline();
  if (in_.pending() && !in_.due() && connected()) {
    next = std::min(next, std::max(in_.due_at(), clock()));
  }
  if (late_.look_at() != Time::max() && streams_.size() > 1) {
    next = std::min(next, std::max(late_.look_at(), clock()));
  }
  return next == Time::max() ? std::nullopt : std::optional(next);
}

std::vector<StreamId> Conduit::tick(Time now) {
  streams_.advance(now);
  if (!dead_.empty()) return {};
  if (in_.pending() && clock() >= in_.due_at()) in_.set_due();
  if (clock() >= late_.look_at()) late_.look(sent_, clock(), streams_.size(), !queue_.empty(true));
  if (streams_.out_of_patience()) {
    fail("has not been heard for " + time_text(config_.patience) + " (patience)");
    return {};
  }
  return streams_.silent();
}

void Conduit::fail(std::string reason) {
  if (!dead_.empty()) return;
  dead_ = std::move(reason);
  trace::note<trace::Event::ConduitDead>(config_.peer);
}

// A node that passes frames on reports at once what the source may free.
Time Conduit::ack_delay() const {
  if (in_.in_custody()) return config_.ack_delay;
  return std::max(config_.ack_delay, late_.near() ? kNearAckDelay : late_.ack_delay());
}

void Conduit::settle(Packet& packet) {
  if (packet.receipt.from != kNobody) settled_.push_back(std::exchange(packet.receipt, {}));
}

void Conduit::settle_all() {
  sent_.each([this](std::uint64_t, const SentFrames::Slot& slot) {
    settle(*slot.packet);
    return true;
  });
  queue_.each([this](const auto& packet) { settle(*packet); });
}

void Conduit::enqueue(std::shared_ptr<Packet> packet) {
  buffered_ += packet->size;
  if (!packet->express()) counts_.bulk_bytes += packet->size;
  queue_.push(std::move(packet));
}

void Conduit::submit(const OutFrame& frame, std::uint16_t hops, bool borrow) {
  FrameHeader header;
  header.kind = frame.kind;
  header.flags = frame.flags;
  header.hops = hops;
  header.source = frame.source;
  header.destination = frame.destination;
  header.body_size = static_cast<std::uint32_t>(frame.head_size + frame.payload.size());
  if (frame.kind == FrameKind::Batch) {
    const Carried carried = carried_by(frame.kind, frame.payload);
    counts_.messages += carried.messages;
    counts_.bytes += carried.bytes;
  } else {
    const bool begins = frame.kind == FrameKind::Envelope;
    if (begins) ++counts_.messages;
    const bool carries = begins || frame.kind == FrameKind::Piece;
    if (carries && !frame.counted) counts_.bytes += frame.payload.size() + frame.lent;
  }
  if (bye_wanted_) return;
  enqueue(
      packets_.make(header, std::span(frame.head).first(frame.head_size), frame.payload, borrow));
}

void Conduit::forward(const InFrame& frame, std::uint16_t hops) {
  if (bye_wanted_) {
    if (frame.receipt.from != kNobody) settled_.push_back(frame.receipt);
    return;
  }
  FrameHeader header;
  header.kind = frame.kind;
  header.flags = frame.flags;
  header.hops = hops;
  header.source = frame.source;
  header.destination = frame.destination;
  header.body_size = static_cast<std::uint32_t>(frame.body.size());
  auto packet = frame.memory ? frame.memory : packets_.make(header, {}, frame.body);
  if (frame.memory) packet->set_header(header);
  packet->receipt = frame.receipt;
  enqueue(std::move(packet));
}

void Conduit::bye() {
  if (bye_wanted_ || !dead_.empty()) return;
  FrameHeader header;
  header.kind = FrameKind::Bye;
  header.source = config_.self;
  header.destination = config_.peer;
  auto packet = packets_.make(header, {}, {});
  buffered_ += packet->size;
  queue_.push_last(std::move(packet));
  bye_wanted_ = true;
}

void Conduit::salvage(const std::function<void(const InFrame&)>& take) const {
  const auto hand_over = [&](const std::shared_ptr<Packet>& packet) {
    if (!is_routed(packet->kind)) return;
    packet->own();
    const FrameHeader header = read_header(packet->data.get());
    take({.kind = header.kind,
          .source = header.source,
          .destination = header.destination,
          .body = packet->bytes().subspan(kHeaderSize),
          .flags = header.flags,
          .receipt = packet->receipt});
  };
  sent_.each([&](std::uint64_t, const SentFrames::Slot& slot) {
    hand_over(slot.packet);
    return true;
  });
  queue_.each(hand_over);
}

PacketPtr Conduit::unsequenced(FrameKind kind, std::span<const std::byte> body) {
  FrameHeader header;
  header.kind = kind;
  header.source = config_.self;
  header.destination = config_.peer;
  header.body_size = static_cast<std::uint32_t>(body.size());
  return packets_.make(header, body, {});
}

PacketPtr Conduit::next_new(StreamId id, bool bulk) {
  auto packet = queue_.pop(bulk);
  const std::uint64_t sequence = sent_.end();
  set_sequence(packet->data.get(), sequence);
  trace::note<trace::Event::FrameSent>(config_.peer, packet->kind, sequence, packet->size, id);
  if (is_routed(packet->kind)) ++counts_.frames;
  sent_.add(packet, id, clock());
  late_.sent(packet->size, clock());
  return packet;
}

PacketPtr Conduit::on_the_wire(PacketPtr packet) {
  if (!compressing_ || packet->size < kLeastCompressed) return packet;
  const auto body = config_.compressor->compress(packet->bytes());
  return body.empty() ? packet : unsequenced(FrameKind::Compressed, body);
}

PacketPtr Conduit::repeat(std::uint64_t sequence, const SentFrames::Slot& slot) {
  trace::note<trace::Event::FrameRepeated>(config_.peer, slot.packet->kind, sequence,
                                           slot.packet->size, slot.stream);
  ++counts_.repeated;
  return slot.packet;
}

void Conduit::output(StreamId id, Time now, std::size_t limit, std::vector<PacketPtr>& out,
                     bool bulk) {
  Stream* const found = streams_.find(id);
  if (found == nullptr) return;
  streams_.advance(now);
  Stream& stream = *found;
  std::size_t bytes = 0;
  const auto put = [&](PacketPtr whole) {
    const std::size_t size = whole->size;
    PacketPtr packet = on_the_wire(std::move(whole));
    bytes += std::max(packet->size, size / 4);  // compressing takes time, too
    counts_.wire_bytes += packet->size;
    out.push_back(std::move(packet));
  };

  if (!stream.hello_sent) {
    Hello hello;
    hello.stream = id;
    hello.session = config_.session;
    hello.peer_session = peer_session_;
    hello.received = in_.acknowledged();
    hello.window = config_.window;
    hello.software = config_.software;
    put(unsequenced(FrameKind::Hello, encode_hello(hello)));
    stream.hello_sent = true;
    streams_.served(stream);
  }
  if (!stream.hello_received || !dead_.empty()) return;

  const bool owed = stream.owes();
  const bool avoid = avoids(id);
  const bool data =
      (bulk && sent_.any_lost()) || late_for(id, bulk) != 0 || (!avoid && queue_.ready(bulk));
  if (in_.due() || stream.answer_due || (data && in_.rides(clock(), ack_delay()))) {
    stream.answer_due = false;
    put(unsequenced(FrameKind::Ack, encode_ack(in_.report(clock()))));
  }
  if (stream.ping_due) {
    put(unsequenced(FrameKind::Ping, {}));
    stream.ping_due = false;
  }
  const auto put_wide = [&](std::byte what, std::size_t size) {
    std::vector<std::byte> body(size);
    body.front() = what;
    out.push_back(unsequenced(FrameKind::Ping, body));  // compressed it would not be wide
    bytes += out.back()->size;
    counts_.wire_bytes += out.back()->size;
  };
  if (std::exchange(stream.probe_due, false)) put_wide(kWideQuestion, stream.probe);
  if (std::exchange(stream.echo_due, false)) put_wide(kWideAnswer, stream.echo);
  if (owed) streams_.served(stream);
  while (bulk && bytes < limit && sent_.any_lost()) {
    const auto [sequence, slot] = sent_.resend(id, clock());
    late_.forget(sequence);
    put(repeat(sequence, *slot));
  }
  while (bytes < limit) {
    const std::uint64_t sequence = late_for(id, bulk);
    if (sequence == 0) break;
    const SentFrames::Slot& slot = late_.resend(sequence, id, sent_, clock());
    counts_.late_bytes += slot.packet->size;
    put(repeat(sequence, slot));
  }
  while (!avoid && bytes < limit && queue_.ready(bulk)) put(next_new(id, bulk));
}

bool Conduit::has_output(StreamId id) const {
  const Stream* const stream = streams_.find(id);
  if (stream == nullptr) return false;
  if (!stream->hello_sent) return true;
  if (!stream->hello_received || !dead_.empty()) return false;
  return in_.due() || stream->owes() || sent_.any_lost() || late_for(id, true) != 0 ||
         (!avoids(id) && queue_.ready(true));
}

bool Conduit::has_output() const {
  if (streams_.some_owe()) return true;
  if (!dead_.empty()) return false;
  return in_.due() || sent_.any_lost() || !late_.empty() || queue_.ready(true) ||
         queue_.ready(false);
}

}  // namespace isthmus::core
