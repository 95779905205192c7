// The sending half of a conduit: queues, numbering, frames kept until acknowledged.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/batch.hpp"
#include "core/conduit.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {
namespace {

// Bulk leaves this much of the window to express frames, or an eighth of a small window. These
// must not wait until the other end has forwarded all that it holds.
constexpr std::uint64_t kExpressWindow = 64 * 1024;
// Smaller frames are not worth a call of the compressor.
constexpr std::size_t kLeastCompressed = 2048;
constexpr int kExpressRun = 16;  // express frames in a row before bulk has its turn

void set_header(Packet& packet, const FrameHeader& header) {
  packet.kind = header.kind;
  encode_header(header, packet.data.get());
}

// The size of a small message's frame. It needs no allocation if an earlier one has been
// acknowledged: each conduit keeps this many, 4 KiB.
constexpr std::size_t kSmall = 128, kMostSpare = 32;

}  // namespace

std::shared_ptr<Packet> packet_for(std::size_t body) {
  auto packet = std::make_shared<Packet>();
  packet->size = packet->room = kHeaderSize + body;
  packet->data = frame_memory(packet->size).take(packet->size);
  return packet;
}

void Packet::own() {
  if (borrowed.empty()) return;
  std::memcpy(data.get() + size - borrowed.size(), borrowed.data(), borrowed.size());
  borrowed = {};
}

std::shared_ptr<Packet> Conduit::packet(std::size_t body) {
  const std::size_t size = kHeaderSize + body;
  if (size > kSmall) return packet_for(body);
  if (spare_.empty()) {
    auto made = packet_for(kSmall - kHeaderSize);
    made->size = size;
    return made;
  }
  auto spare = std::move(spare_.back());
  spare_.pop_back();
  spare->size = size;
  return spare;
}

void Conduit::keep_for_next(std::shared_ptr<Packet> packet) {
  const bool alone = packet.use_count() == 1;
  if (!alone || packet->room != kSmall || spare_.size() >= kMostSpare) return;
  packet->receipt = {};
  spare_.push_back(std::move(packet));
}

std::shared_ptr<Packet> Conduit::make_packet(const FrameHeader& header,
                                             std::span<const std::byte> head,
                                             std::span<const std::byte> payload, bool borrow) {
  auto made = packet(head.size() + payload.size());
  set_header(*made, header);
  std::byte* const body = made->body().data();
  if (!head.empty()) std::memcpy(body, head.data(), head.size());
  if (borrow) {
    made->borrowed = payload;
    borrowed_.push_back(made);
  } else if (!payload.empty()) {
    std::memcpy(body + head.size(), payload.data(), payload.size());
  }
  return made;
}

void Conduit::enqueue(std::shared_ptr<Packet> packet) {
  buffered_ += packet->size;
  const bool express = packet->size <= kHeaderSize + kExpressBody;
  if (!express) counts_.bulk_bytes += packet->size;
  (express ? express_ : bulk_).push(std::move(packet));
}

void Conduit::submit(const OutFrame& frame, std::uint16_t hops) { submit(frame, hops, false); }

void Conduit::submit_borrowed(const OutFrame& frame) { submit(frame, kMaxHops, true); }

bool Conduit::own_some(std::size_t bytes) {
  for (std::size_t owned = 0; !borrowed_.empty(); borrowed_.pop_front()) {
    Packet& packet = *borrowed_.front();
    // An acknowledged one has no other owner.
    if (borrowed_.front().use_count() == 1) continue;
    if (owned >= bytes) return true;
    owned += packet.borrowed.size();
    packet.own();
  }
  return false;
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
  enqueue(make_packet(header, std::span(frame.head).first(frame.head_size), frame.payload, borrow));
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
  auto packet = frame.memory ? frame.memory : make_packet(header, {}, frame.body);
  if (frame.memory) set_header(*packet, header);
  packet->receipt = frame.receipt;
  enqueue(std::move(packet));
}

void Conduit::bye() {
  if (bye_wanted_ || !dead_.empty()) return;
  FrameHeader header;
  header.kind = FrameKind::Bye;
  header.source = config_.self;
  header.destination = config_.peer;
  enqueue(make_packet(header, {}, {}));
  // It is sequenced last: out of the express queue, behind everything.
  auto packet = std::move(express_.packets.back());
  express_.packets.pop_back();
  express_.bytes -= packet->size;
  bulk_.push(std::move(packet));
  bye_wanted_ = true;
}

void Conduit::salvage(const std::function<void(const InFrame&)>& take) const {
  const auto hand_over = [&](const std::shared_ptr<Packet>& packet) {
    if (!packet || !is_routed(packet->kind)) return;
    packet->own();
    const FrameHeader header = read_header(packet->data.get());
    take({.kind = header.kind,
          .source = header.source,
          .destination = header.destination,
          .body = packet->bytes().subspan(kHeaderSize),
          .flags = header.flags,
          .receipt = packet->receipt});
  };
  for (const auto& [sequence, slot] : stragglers_) hand_over(slot.packet);
  for (const Slot& slot : sent_) hand_over(slot.packet);
  for (const auto& packet : express_.packets) hand_over(packet);
  for (const auto& packet : bulk_.packets) hand_over(packet);
}

bool Conduit::flushed() const { return buffered_ == 0; }

PacketPtr Conduit::unsequenced(FrameKind kind, std::span<const std::byte> body) {
  FrameHeader header;
  header.kind = kind;
  header.source = config_.self;
  header.destination = config_.peer;
  header.body_size = static_cast<std::uint32_t>(body.size());
  return make_packet(header, body, {});
}

Conduit::Queue* Conduit::next_queue(bool bulk) {
  if (!bulk) return express_.empty() ? nullptr : &express_;
  if (express_.empty()) return bulk_.empty() ? nullptr : &bulk_;
  if (bulk_.empty() || express_run_ < kExpressRun) return &express_;
  // Bulk's turn; but Bye goes when all else has gone.
  return bulk_.packets.front()->kind == FrameKind::Bye ? &express_ : &bulk_;
}

bool Conduit::may_send_new(bool bulk) const {
  // The next frame fits into the window as a whole, or waits, in either queue. The choice of the
  // queue must not depend on that, or large frames would starve.
  const Queue* queue = const_cast<Conduit*>(this)->next_queue(bulk);
  if (queue == nullptr) return false;
  const std::uint64_t kept = queue == &bulk_ ? std::min(kExpressWindow, peer_window_ / 8) : 0;
  return sent_bytes_ + queue->packets.front()->size - peer_consumed_ <=
         std::max(peer_window_ - kept, std::uint64_t{kHeaderSize + kMaxBody});
}

PacketPtr Conduit::next_new(StreamId id, bool bulk) {
  Queue* queue = next_queue(bulk);
  express_run_ = queue == &express_ && !bulk_.empty() ? express_run_ + 1 : 0;
  auto packet = queue->pop();
  const std::uint64_t sequence = base_ + sent_.size();
  set_sequence(packet->data.get(), sequence);
  trace::note<trace::Event::FrameSent>(config_.peer, packet->kind, sequence, packet->size, id);
  sent_bytes_ += packet->size;
  if (is_routed(packet->kind)) ++counts_.frames;
  sent_.push_back({packet, id, 0, now_});
  late_.sent(packet->size);
  if (late_.possible() && look_late_ == Time::max()) look_late_ = now_ + late_.after();
  ++live_;
  return packet;
}

PacketPtr Conduit::on_the_wire(PacketPtr packet) {
  if (!compressing_ || packet->size < kLeastCompressed) return packet;
  const auto body = config_.compressor->compress(packet->bytes());
  return body.empty() ? packet : unsequenced(FrameKind::Compressed, body);
}

void Conduit::output(StreamId id, Time now, std::size_t limit, std::vector<PacketPtr>& out,
                     bool bulk) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  advance(now);
  Stream& stream = found->second;
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
    hello.received = custody_ ? settled_up_to() : received_;
    hello.window = config_.window;
    hello.software = config_.software;
    put(unsequenced(FrameKind::Hello, encode_hello(hello)));
    stream.hello_sent = true;
    if (!stream.owes()) --owing_;
  }
  if (!stream.hello_received || !dead_.empty()) return;

  const bool owed = stream.owes();
  const bool avoid = avoided(stream);
  const bool data =
      (bulk && !again_.empty()) || late_for(id, bulk) != 0 || (!avoid && may_send_new(bulk));
  if (ack_due_ || stream.answer_due || (data && ack_rides())) {
    stream.answer_due = false;
    put(make_ack());
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
  if (owed && !stream.owes()) --owing_;
  while (bulk && bytes < limit && !again_.empty()) {
    const std::uint64_t sequence = *again_.begin();
    Slot& lost = slot(sequence);
    again_.erase(again_.begin());
    trace::note<trace::Event::FrameRepeated>(config_.peer, lost.packet->kind, sequence,
                                             lost.packet->size, id);
    lost.stream = id;
    lost.at = now_;
    overdue_.erase(sequence);
    ++counts_.repeated;
    put(lost.packet);
  }
  while (bytes < limit) {
    const std::uint64_t sequence = late_for(id, bulk);
    if (sequence == 0) break;
    Slot& late = slot(sequence);
    overdue_.erase(sequence);
    trace::note<trace::Event::FrameRepeated>(config_.peer, late.packet->kind, sequence,
                                             late.packet->size, id);
    late.stream = id;
    late.at = now_;
    ++late.tries;
    ++counts_.repeated;
    counts_.late_bytes += late.packet->size;
    put(late.packet);
  }
  while (!avoid && bytes < limit && may_send_new(bulk)) put(next_new(id, bulk));
}

bool Conduit::has_output(StreamId id) const {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return false;
  const Stream& stream = found->second;
  if (!stream.hello_sent) return true;
  if (!stream.hello_received || !dead_.empty()) return false;
  return ack_due_ || stream.owes() || !again_.empty() || has_late_for(id) ||
         (!avoided(stream) && may_send_new(true));
}

bool Conduit::has_output() const {
  if (owing_ > 0) return true;
  if (!dead_.empty()) return false;
  return ack_due_ || !again_.empty() || !overdue_.empty() || may_send_new(true) ||
         may_send_new(false);
}

}  // namespace isthmus::core
