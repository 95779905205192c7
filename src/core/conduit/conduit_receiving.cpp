// The receiving half of a conduit: what the peer's frames mean.
#include <utility>

#include "core/base/words.hpp"
#include "core/conduit/conduit.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {

Conduit::Objection Conduit::take_ack(const Ack& ack) {
  if (ack.received >= sent_.end() ||
      (!ack.beyond.empty() && ack.beyond.back().second >= sent_.end())) {
    return "acknowledged frames that were never sent";
  }
  if (!queue_.consumed(ack.consumed)) return "consumed more than was sent";
  late_.begin_ack();
  const auto done = [this](std::uint64_t number, std::shared_ptr<Packet> packet,
                           const SentFrames::Slot& slot) {
    buffered_ -= packet->size;
    settle(*packet);
    late_.acknowledged(number, slot, clock());
    packets_.recycle(std::move(packet));
  };
  sent_.acknowledge(0, ack.received, done);
  for (const auto& [first, last] : ack.beyond) sent_.acknowledge(first, last, done);
  late_.end_ack();
  sent_.trim();
  return {};
}

Conduit::Objection Conduit::take_hello(ConduitStreams::Stream& stream, const Decoded& frame) {
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
  queue_.set_window(hello->window);
  stream.hello_received = true;
  if (stream.probe > 0) streams_.owe(stream, &ConduitStreams::Stream::probe_due);
  in_.set_due();  // with the numbers beyond a gap, and the consumed bytes
  return {};
}

Conduit::Objection Conduit::take(ConduitStreams::Stream& stream, const Decoded& frame, Time now,
                                 const Sink& sink, Outcome& outcome,
                                 std::shared_ptr<Packet> memory) {
  const FrameHeader& header = frame.header;
  outcome = Outcome::Broken;
  if (header.kind == FrameKind::Refuse) {
    outcome = Outcome::Refused;
    return peers_words({reinterpret_cast<const char*>(frame.body.data()), frame.body.size()}, 1000);
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
        streams_.owe(stream, &ConduitStreams::Stream::answer_due);
      } else if (frame.body.front() == kWideAnswer) {
        stream.probed = true;
      } else {
        stream.echo = frame.body.size();
        streams_.owe(stream, &ConduitStreams::Stream::echo_due);
      }
      return {};
    case FrameKind::Compressed:
      return take_compressed(stream, frame.body, now, sink, outcome);
    default:
      break;
  }
  const bool kept = in_.in_custody() && is_routed(header.kind);
  const std::size_t size = kHeaderSize + header.body_size;
  const auto taken = in_.take(header.sequence, size, is_routed(header.kind), now, ack_delay());
  if (taken == ReceivedFrames::Taken::Before) {
    trace::note<trace::Event::FrameDuplicate>(config_.peer, header.kind, header.sequence, size);
    ++counts_.duplicates;
    return {};
  }
  trace::note<trace::Event::FrameReceived>(config_.peer, header.kind, header.sequence, size);
  if (taken == ReceivedFrames::Taken::Gaps) return "left too many gaps in its frames";
  if (header.body_size > kExpressBody) counts_.bulk_bytes += size;
  if (taken == ReceivedFrames::Taken::NoWindow) return "sent more than the window allows";
  if (header.kind == FrameKind::Bye) {
    peer_bye_ = header.sequence;
    in_.set_due();
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
  in_.check();
  return {};
}

Conduit::Objection Conduit::take_compressed(ConduitStreams::Stream& stream,
                                            std::span<const std::byte> body, Time now,
                                            const Sink& sink, Outcome& outcome) {
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
  ConduitStreams::Stream* const stream = streams_.find(id);
  if (stream == nullptr || !dead_.empty()) {
    result.used = bytes.size();
    return result;
  }
  streams_.advance(now);
  streams_.heard(*stream);
  while (dead_.empty()) {
    const Decoded frame = decode(bytes.subspan(result.used), std::exchange(placed, 0));
    if (frame.state == Decoded::State::Incomplete) return result;
    if (frame.state == Decoded::State::Malformed) {
      result.outcome = Outcome::Broken;
      result.reason = "sent " + frame.reason;
    } else {
      auto wrong =
          take(*stream, frame, clock(), sink, result.outcome, std::exchange(memory, nullptr));
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
  const ConduitStreams::Stream* const stream = streams_.find(id);
  if (stream == nullptr || !stream->hello_received) return {};
  const Decoded frame = decode(bytes);
  const FrameHeader& header = frame.header;
  if (frame.state != Decoded::State::Incomplete || !is_routed(header.kind)) return {};
  if (in_.has(header.sequence)) return {};
  return InFrame{.kind = header.kind,
                 .source = header.source,
                 .destination = header.destination,
                 .body = bytes.subspan(kHeaderSize),
                 .flags = header.flags,
                 .placed = frame.size - bytes.size()};
}

}  // namespace isthmus::core
