#include "core/conduit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace isthmus::core {
namespace {

constexpr int kExpressRun = 16;             // so many of them before a large one has its turn
constexpr std::size_t kMaxGaps = 1U << 16;  // in what has been received
constexpr std::size_t kAckBytes = 128 * 1024;

std::shared_ptr<Packet> make_packet(const FrameHeader& header, std::span<const std::byte> head,
                                    std::span<const std::byte> payload) {
  auto packet = std::make_shared<Packet>();
  packet->kind = header.kind;
  packet->size = kHeaderSize + head.size() + payload.size();
  packet->data = std::make_unique_for_overwrite<std::byte[]>(packet->size);
  encode_header(header, packet->data.get());
  std::byte* body = packet->data.get() + kHeaderSize;
  if (!head.empty()) std::memcpy(body, head.data(), head.size());
  if (!payload.empty()) std::memcpy(body + head.size(), payload.data(), payload.size());
  return packet;
}

void set_sequence(Packet& packet, std::uint64_t sequence) {
  for (int i = 0; i < 8; ++i) packet.data[16 + i] = static_cast<std::byte>(sequence >> (8 * i));
}

}  // namespace

Conduit::Conduit(ConduitConfig config, Time now)
    : config_(std::move(config)), heard_(now), now_(now) {}

// ---- sending ----------------------------------------------------------------------------------

void Conduit::enqueue(const FrameHeader& header, std::span<const std::byte> head,
                      std::span<const std::byte> payload) {
  if (bye_wanted_ || !dead_.empty()) return;
  auto packet = make_packet(header, head, payload);
  buffered_ += packet->size;
  (header.body_size <= kExpressBody ? express_ : bulk_).push(std::move(packet));
}

void Conduit::submit(const OutFrame& frame, std::uint16_t hops) {
  FrameHeader header;
  header.kind = frame.kind;
  header.hops = hops;
  header.source = frame.source;
  header.destination = frame.destination;
  header.body_size = static_cast<std::uint32_t>(frame.head_size + frame.payload.size());
  enqueue(header, std::span(frame.head).first(frame.head_size), frame.payload);
}

void Conduit::forward(const InFrame& frame, std::uint16_t hops) {
  FrameHeader header;
  header.kind = frame.kind;
  header.hops = hops;
  header.source = frame.source;
  header.destination = frame.destination;
  header.body_size = static_cast<std::uint32_t>(frame.body.size());
  enqueue(header, {}, frame.body);
}

void Conduit::bye() {
  if (bye_wanted_ || !dead_.empty()) return;
  FrameHeader header;
  header.kind = FrameKind::Bye;
  header.source = config_.self;
  header.destination = config_.peer;
  enqueue(header, {}, {});
  // It is sequenced last: out of the express queue, behind everything.
  auto packet = std::move(express_.packets.back());
  express_.packets.pop_back();
  express_.bytes -= packet->size;
  bulk_.push(std::move(packet));
  bye_wanted_ = true;
}

bool Conduit::flushed() const { return buffered_ == 0; }

PacketPtr Conduit::unsequenced(FrameKind kind, std::span<const std::byte> body) const {
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
  // Bulk's turn; but Bye goes when nothing else is left.
  return bulk_.packets.front()->kind == FrameKind::Bye ? &express_ : &bulk_;
}

bool Conduit::may_send_new(bool bulk) const {
  // Whichever queue is next, a whole frame fits into the window or waits: what is next must not
  // depend on what fits, or large frames would starve.
  const Queue* queue = const_cast<Conduit*>(this)->next_queue(bulk);
  return queue != nullptr &&
         sent_bytes_ + queue->packets.front()->size - peer_consumed_ <= peer_window_;
}

PacketPtr Conduit::next_new(StreamId id, bool bulk) {
  Queue* queue = next_queue(bulk);
  express_run_ = queue == &express_ ? express_run_ + 1 : 0;
  auto packet = queue->pop();
  set_sequence(*packet, base_ + sent_.size());
  sent_bytes_ += packet->size;
  if (is_routed(packet->kind)) ++counts_.frames;
  sent_.push_back({packet, id});
  return packet;
}

void Conduit::output(StreamId id, Time now, std::size_t limit, std::vector<PacketPtr>& out,
                     bool bulk) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  now_ = std::max(now_, now);
  Stream& stream = found->second;
  std::size_t bytes = 0;
  const auto put = [&](PacketPtr packet) {
    bytes += packet->size;
    counts_.wire_bytes += packet->size;
    out.push_back(std::move(packet));
  };

  if (!stream.hello_sent) {
    Hello hello;
    hello.stream = id;
    hello.session = config_.session;
    hello.peer_session = peer_session_;
    hello.received = received_;
    hello.window = config_.window;
    hello.software = config_.software;
    put(unsequenced(FrameKind::Hello, encode_hello(hello)));
    stream.hello_sent = true;
  }
  if (!stream.hello_received || !dead_.empty()) return;

  const bool data = (bulk && !again_.empty()) || may_send_new(bulk);
  if (ack_due_ || (data && ack_pending())) put(make_ack());
  if (stream.ping_due) {
    put(unsequenced(FrameKind::Ping, {}));
    stream.ping_due = false;
  }
  while (bulk && bytes < limit && !again_.empty()) {
    Slot& slot = sent_[*again_.begin() - base_];
    again_.erase(again_.begin());
    slot.stream = id;
    ++counts_.repeated;
    put(slot.packet);
  }
  while (bytes < limit && may_send_new(bulk)) put(next_new(id, bulk));
}

bool Conduit::has_output(StreamId id) const {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return false;
  const Stream& stream = found->second;
  if (!stream.hello_sent) return true;
  if (!stream.hello_received || !dead_.empty()) return false;
  return ack_due_ || stream.ping_due || !again_.empty() || may_send_new(true);
}

// ---- what the peer has received ---------------------------------------------------------------

void Conduit::acknowledged(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t sequence = std::max(first, base_); sequence <= last; ++sequence) {
    Slot& slot = sent_[sequence - base_];
    if (!slot.packet) continue;
    buffered_ -= slot.packet->size;
    slot.packet.reset();
    again_.erase(sequence);
  }
}

void Conduit::trim() {
  while (!sent_.empty() && !sent_.front().packet) {
    sent_.pop_front();
    ++base_;
  }
}

std::string Conduit::take_ack(const Ack& ack) {
  const std::uint64_t end = base_ + sent_.size();  // first number not yet sent
  if (ack.received >= end || (!ack.beyond.empty() && ack.beyond.back().second >= end)) {
    return "acknowledged frames that were never sent";
  }
  if (ack.consumed > sent_bytes_) return "consumed more than was sent";
  acknowledged(base_, ack.received);
  for (const auto& [first, last] : ack.beyond) acknowledged(first, last);
  trim();
  peer_consumed_ = std::max(peer_consumed_, ack.consumed);
  return {};
}

// ---- receiving --------------------------------------------------------------------------------

bool Conduit::note_received(std::uint64_t sequence) {
  if (sequence <= received_) return false;
  if (sequence == received_ + 1) {
    received_ = sequence;
    const auto next = beyond_.begin();
    if (next != beyond_.end() && next->first == received_ + 1) {
      received_ = next->second;
      beyond_.erase(next);
    }
    return true;
  }
  auto after = beyond_.upper_bound(sequence);
  if (after != beyond_.begin()) {
    const auto before = std::prev(after);
    if (sequence <= before->second) return false;
    if (sequence == before->second + 1) {
      before->second = sequence;
      if (after != beyond_.end() && after->first == sequence + 1) {
        before->second = after->second;
        beyond_.erase(after);
      }
      return true;
    }
  }
  if (after != beyond_.end() && after->first == sequence + 1) {
    const std::uint64_t last = after->second;
    beyond_.erase(after);
    beyond_.emplace(sequence, last);
    return true;
  }
  beyond_.emplace(sequence, sequence);
  return true;
}

void Conduit::consume(std::size_t body) {
  if (!ack_pending()) ack_at_ = now_ + config_.ack_delay;
  consumed_ += kHeaderSize + body;
}

bool Conduit::ack_pending() const {
  return acked_bytes_ != received_bytes_ || acked_consumed_ != consumed_;
}

PacketPtr Conduit::make_ack() {
  Ack ack;
  ack.received = received_;
  ack.consumed = consumed_;
  for (const auto& [first, last] : beyond_) {
    if (ack.beyond.size() == kMaxAckRanges) break;
    ack.beyond.emplace_back(first, last);
  }
  acked_bytes_ = received_bytes_;
  acked_consumed_ = consumed_;
  ack_due_ = false;
  ack_at_ = {};
  return unsequenced(FrameKind::Ack, encode_ack(ack));
}

std::string Conduit::take_hello(Stream& stream, const Decoded& frame) {
  std::string reason;
  const auto hello = decode_hello(frame.body, reason);
  if (!hello) return "sent " + reason;
  if (hello->version != kProtocolVersion) {
    return "speaks version " + std::to_string(hello->version) + " of the protocol (Isthmus " +
           hello->software + "), this side version " + std::to_string(kProtocolVersion) +
           " (Isthmus " + config_.software + "): install the same release on both";
  }
  if (frame.header.source != config_.peer || frame.header.destination != config_.self) {
    return "said Hello in the name of another node";
  }
  if (peer_session_ != 0 && hello->session != peer_session_) {
    return "has been started anew and has lost what was under way";
  }
  if (hello->peer_session != 0 && hello->peer_session != config_.session) {
    return "resumes a conduit that this side no longer has";
  }
  if (hello->window < kHeaderSize + kMaxBody) return "offers a window too small for one frame";
  Ack ack;
  ack.received = hello->received;
  if (auto wrong = take_ack(ack); !wrong.empty()) return wrong;
  peer_session_ = hello->session;
  peer_window_ = hello->window;
  stream.hello_received = true;
  ack_due_ = true;  // the numbers beyond a gap, and what has been consumed
  return {};
}

std::string Conduit::take(Stream& stream, const Decoded& frame, Time now, const Sink& sink,
                          Outcome& outcome) {
  const FrameHeader& header = frame.header;
  outcome = Outcome::Broken;
  if (header.kind == FrameKind::Refuse) {
    outcome = Outcome::Refused;
    std::string reason(reinterpret_cast<const char*>(frame.body.data()),
                       std::min<std::size_t>(frame.body.size(), 1000));
    std::replace_if(
        reason.begin(), reason.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return reason.empty() ? "no reason given" : reason;
  }
  if (!stream.hello_received) {
    if (header.kind != FrameKind::Hello) return "did not say Hello first";
    return take_hello(stream, frame);
  }
  switch (header.kind) {
    case FrameKind::Hello:
      return "said Hello twice on one stream";
    case FrameKind::Ack: {
      const auto ack = decode_ack(frame.body);
      return ack ? take_ack(*ack) : "sent an Ack of the wrong form";
    }
    case FrameKind::Ping:
      ack_due_ = true;
      return {};
    default:
      break;
  }
  if (!note_received(header.sequence)) {
    ++counts_.duplicates;
    ack_due_ = true;
    return {};
  }
  if (beyond_.size() > kMaxGaps) return "left too many gaps in its frames";
  if (!ack_pending()) ack_at_ = now + config_.ack_delay;
  received_bytes_ += frame.size;
  if (received_bytes_ - consumed_ > config_.window) return "sent more than the window allows";
  if (header.kind == FrameKind::Bye) {
    peer_bye_ = header.sequence;
    ack_due_ = true;
    consume(header.body_size);
    return {};
  }
  const InFrame in{header.kind, header.source, header.destination, frame.body};
  if (sink(in, header.hops)) consume(header.body_size);
  if (received_bytes_ - acked_bytes_ >= kAckBytes) ack_due_ = true;
  return {};
}

Conduit::Input Conduit::input(StreamId id, std::span<const std::byte> bytes, Time now,
                              const Sink& sink) {
  Input result;
  const auto found = streams_.find(id);
  if (found == streams_.end() || !dead_.empty()) {
    result.used = bytes.size();
    return result;
  }
  now_ = std::max(now_, now);
  heard_ = now_;
  Stream& stream = found->second;
  stream.heard = now_;
  stream.next_ping = now_ + config_.link_timeout / 4;
  while (dead_.empty()) {
    const Decoded frame = decode(bytes.subspan(result.used));
    if (frame.state == Decoded::State::Incomplete) return result;
    if (frame.state == Decoded::State::Malformed) {
      result.outcome = Outcome::Broken;
      result.reason = "sent " + frame.reason;
    } else {
      result.reason = take(stream, frame, now_, sink, result.outcome);
      result.used += frame.size;
      if (result.reason.empty()) {
        result.outcome = Outcome::Good;
        continue;
      }
    }
    fail(result.reason);
  }
  return result;
}

// ---- streams and time -------------------------------------------------------------------------

StreamId Conduit::stream_up(Time now) {
  now_ = std::max(now_, now);
  const StreamId id = next_stream_++;
  if (id == 1) heard_ = now_;
  Stream stream;
  stream.heard = now_;
  stream.next_ping = now_ + config_.link_timeout / 4;
  streams_.emplace(id, stream);
  return id;
}

void Conduit::stream_down(StreamId id) {
  if (streams_.erase(id) == 0) return;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    if (sent_[i].packet && sent_[i].stream == id) again_.insert(base_ + i);
  }
}

bool Conduit::connected() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& entry) { return entry.second.hello_received; });
}

std::optional<Time> Conduit::deadline() const {
  if (!dead_.empty()) return std::nullopt;
  std::optional<Time> next;
  const auto consider = [&](Time t) {
    if (!next || t < *next) next = t;
  };
  if (ack_pending() && !ack_due_ && connected()) consider(std::max(ack_at_, now_));
  if (config_.link_timeout > Time::zero()) {
    if (next_stream_ > 1) consider(heard_ + config_.link_timeout);
    for (const auto& [id, stream] : streams_) {
      consider(stream.heard + config_.link_timeout / 2);
      if (stream.hello_received && !stream.ping_due) consider(stream.next_ping);
    }
  }
  return next;
}

std::vector<StreamId> Conduit::tick(Time now) {
  now_ = std::max(now_, now);
  std::vector<StreamId> silent;
  if (!dead_.empty()) return silent;
  if (ack_pending() && now_ >= ack_at_) ack_due_ = true;
  if (config_.link_timeout <= Time::zero()) return silent;
  if (next_stream_ > 1 && now_ - heard_ >= config_.link_timeout) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(config_.link_timeout);
    fail("has not been heard for " + std::to_string(ms.count()) + " ms (link_timeout)");
    return silent;
  }
  for (auto& [id, stream] : streams_) {
    if (now_ - stream.heard >= config_.link_timeout / 2) {
      silent.push_back(id);
    } else if (stream.hello_received && now_ >= stream.next_ping) {
      stream.ping_due = true;
      stream.next_ping = now_ + config_.link_timeout / 4;
    }
  }
  return silent;
}

void Conduit::fail(std::string reason) {
  if (dead_.empty()) dead_ = std::move(reason);
}

}  // namespace isthmus::core
