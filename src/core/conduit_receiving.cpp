// The receiving half of a conduit: frames that have arrived, acknowledgements, the window, Hello.
#include <algorithm>
#include <utility>

#include "core/conduit.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {
namespace {

constexpr std::size_t kMaxGaps = 1U << 16;  // in the received numbers
// Or a quarter of the window. At less than 4 Gbit/s `ack_delay` is over first. 1 MiB over plain TCP
// in one room takes 312 us one way; if acknowledged every 128 KiB, 410 (two cores, November 2026).
constexpr std::size_t kAckBytes = std::size_t{512} * 1024;

}  // namespace

bool Conduit::has_received(std::uint64_t sequence) const {
  if (sequence <= received_) return true;
  const auto after = beyond_.upper_bound(sequence);
  return after != beyond_.begin() && sequence <= std::prev(after)->second;
}

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

Conduit::Objection Conduit::take_hello(Stream& stream, const Decoded& frame) {
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
    peer_anew_ = true;
    return "has been started anew and has lost what was under way";
  }
  if (hello->peer_session != 0 && hello->peer_session != config_.session) {
    return "resumes a conduit that this side no longer has";
  }
  if (hello->window < kHeaderSize + kMaxBody) return "offers a window too small for one frame";
  Ack ack;
  ack.received = hello->received;
  if (auto wrong = take_ack(ack)) return wrong;
  peer_session_ = hello->session;
  peer_window_ = hello->window;
  stream.hello_received = true;
  if (stream.probe > 0) owe(stream, &Stream::probe_due);
  ack_due_ = true;  // with the numbers beyond a gap, and the consumed bytes
  return {};
}

Conduit::Objection Conduit::take(Stream& stream, const Decoded& frame, Time now, const Sink& sink,
                                 Outcome& outcome, std::shared_ptr<Packet> memory) {
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
    case FrameKind::Leg:
      return "asked for another leg on a stream that is in use";
    case FrameKind::Ack: {
      const auto ack = decode_ack(frame.body);
      return ack ? take_ack(*ack) : "sent an Ack of the wrong form";
    }
    case FrameKind::Ping:
      if (frame.body.empty()) {
        owe(stream, &Stream::answer_due);
      } else if (frame.body.front() == kWideAnswer) {
        stream.probed = true;
      } else {
        stream.echo = frame.body.size();
        owe(stream, &Stream::echo_due);
      }
      return {};
    case FrameKind::Compressed:
      return take_compressed(stream, frame.body, now, sink, outcome);
    default:
      break;
  }
  if (!note_received(header.sequence)) {
    trace::note<trace::Event::FrameDuplicate>(config_.peer, header.kind, header.sequence,
                                              kHeaderSize + header.body_size);
    ++counts_.duplicates;
    ack_due_ = true;
    return {};
  }
  trace::note<trace::Event::FrameReceived>(config_.peer, header.kind, header.sequence,
                                           kHeaderSize + header.body_size);
  if (beyond_.size() > kMaxGaps) return "left too many gaps in its frames";
  ack_soon(now);
  ++unacked_;
  const bool kept = custody_ && is_routed(header.kind);
  if (kept) {
    unsettled_.add(header.sequence);
  } else if (custody_) {
    fresh_.add(header.sequence);
  }
  received_bytes_ += kHeaderSize + header.body_size;
  if (header.body_size > kExpressBody) counts_.bulk_bytes += kHeaderSize + header.body_size;
  if (received_bytes_ - consumed_ > config_.window) return "sent more than the window allows";
  if (header.kind == FrameKind::Bye) {
    peer_bye_ = header.sequence;
    ack_due_ = true;
    consume(header.body_size);
    return {};
  }
  const InFrame in{
      .kind = header.kind,
      .source = header.source,
      .destination = header.destination,
      .body = memory ? memory->body() : frame.body,
      .flags = header.flags,
      .placed = memory ? 0 : header.body_size - frame.body.size(),
      .receipt = kept ? Receipt{config_.peer, header.sequence, config_.session} : Receipt{},
      .memory = std::move(memory)};
  if (sink(in, header.hops)) consume(header.body_size);
  if (received_bytes_ - acked_bytes_ >= std::min(kAckBytes, config_.window / 4)) ack_due_ = true;
  return {};
}

Conduit::Objection Conduit::take_compressed(Stream& stream, std::span<const std::byte> body,
                                            Time now, const Sink& sink, Outcome& outcome) {
  if (!config_.compressor) return "sent a compressed frame over a link that is not compressed";
  const auto bytes = config_.compressor->decompress(body);
  const Decoded frame = decode(bytes);
  if (frame.state != Decoded::State::Frame || frame.size != bytes.size() ||
      !is_sequenced(frame.header.kind)) {
    return "sent a compressed frame that holds no frame";
  }
  return take(stream, frame, now, sink, outcome);
}

Conduit::Input Conduit::input(StreamId id, std::span<const std::byte> bytes, Time now,
                              const Sink& sink, std::size_t placed,
                              std::shared_ptr<Packet> memory) {
  Input result;
  const auto found = streams_.find(id);
  if (found == streams_.end() || !dead_.empty()) {
    result.used = bytes.size();
    return result;
  }
  advance(now);
  heard_ = now_;
  Stream& stream = found->second;
  stream.heard = now_;
  stream.next_ping = now_ + stream_timeout() / 2;
  while (dead_.empty()) {
    const Decoded frame = decode(bytes.subspan(result.used), std::exchange(placed, 0));
    if (frame.state == Decoded::State::Incomplete) return result;
    if (frame.state == Decoded::State::Malformed) {
      result.outcome = Outcome::Broken;
      result.reason = "sent " + frame.reason;
    } else {
      auto wrong = take(stream, frame, now_, sink, result.outcome, std::exchange(memory, nullptr));
      result.used += frame.size;
      if (!wrong) {
        result.outcome = Outcome::Good;
        continue;
      }
      result.reason = std::move(*wrong);
    }
    fail(result.reason);
  }
  return result;
}

std::optional<InFrame> Conduit::arriving(StreamId id, std::span<const std::byte> bytes) const {
  if (bytes.size() < kHeaderSize || !dead_.empty()) return {};
  const auto found = streams_.find(id);
  if (found == streams_.end() || !found->second.hello_received) return {};
  const Decoded frame = decode(bytes);
  const FrameHeader& header = frame.header;
  if (frame.state != Decoded::State::Incomplete || !is_routed(header.kind)) return {};
  if (has_received(header.sequence)) return {};
  return InFrame{.kind = header.kind,
                 .source = header.source,
                 .destination = header.destination,
                 .body = bytes.subspan(kHeaderSize),
                 .flags = header.flags,
                 .placed = frame.size - bytes.size()};
}

}  // namespace isthmus::core
