// One hop between two nodes: delivers frames exactly once over any number of streams that come and
// go. A pure state machine: bytes, frames and time in; bytes, frames and deadlines out. Each end of
// a conduit has one of these. docs/protocol.md describes their protocol.
//
// Sending: submit() copies a frame, and forward() takes the memory that it arrived in; output()
// gives a stream the next bytes to write. Any stream may take the next frame, so the fast ones
// carry more. Frames stay buffered until acknowledged. If their stream is lost, they go again over
// another. Small frames overtake large ones, and several streams reorder, so frames arrive in no
// particular order.
//
// Receiving: input() takes the bytes read from a stream and hands on each frame once. The window
// limits a sender: the owner calls consume() when a frame takes no more room here. So
// acknowledgements never wait behind data that the owner cannot take.
//
// Lost tails: data that follows on a stream reveals a loss to its kernel. The last frames of a
// message are followed by none, and wait for a timeout of 200 ms or more. So if the round trip is
// long, such frames go again over another stream after two round trips (late_frames.hpp).
//
// Custody: an owner that passes frames on may acknowledge them only when they have arrived at the
// next node, whose owner may do the same. So the source keeps all that a node on the way could
// lose.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.hpp"
#include "core/conduit/conduit_streams.hpp"
#include "core/conduit/late_frames.hpp"
#include "core/conduit/received_frames.hpp"
#include "core/conduit/send_queue.hpp"
#include "core/conduit/sent_frames.hpp"
#include "core/wire/compressor.hpp"
#include "core/wire/packet.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

struct ConduitConfig {
  NodeId self = kNobody;
  NodeId peer = kNobody;
  std::uint64_t session = 0;  ///< random, not zero
  std::string software;       ///< sent in Hello
  /// Submitted and unacknowledged bytes beyond which can_accept() is false.
  std::size_t buffer = std::size_t{4} << 20;
  /// Bytes not yet given to a stream beyond which can_accept() is false; once for express frames,
  /// once for bulk.
  std::size_t queue = std::size_t{512} << 10;
  /// Bytes of frames that the peer may have unconsumed here.
  std::size_t window = std::size_t{4} << 20;
  /// An established conduit that hears nothing for this long is dead. Zero: it never dies of
  /// silence. Time in which this process did not run does not count.
  Time patience = std::chrono::minutes(10);
  /// A stream that is silent for this long (or half the patience, if that is less) is given up. The
  /// end with the lower node number pings it after half of it, the other end after 5/8. Streams
  /// that are due within a quarter are pinged together.
  Time stream_timeout = std::chrono::seconds(5);
  /// The least time that an acknowledgement may wait for others (Conduit::set_round_trip).
  Time ack_delay = std::chrono::milliseconds(1);
  /// For compressed frames of the peer, and after compress() for those of this end. Null: a peer
  /// that sends them breaks the protocol.
  std::shared_ptr<Compressor> compressor{};
};

struct ConduitCounts {
  std::uint64_t messages = 0;    ///< those that began with submit()
  std::uint64_t bytes = 0;       ///< of their payload, submitted so far
  std::uint64_t frames = 0;      ///< routed frames sent, each once
  std::uint64_t bulk_bytes = 0;  ///< of frames larger than express ones, submitted or received
  std::uint64_t wire_bytes = 0;  ///< all bytes given to streams
  std::uint64_t repeated = 0;    ///< frames sent again
  std::uint64_t late_bytes = 0;  ///< of them, bytes of those whose stream stands
  std::uint64_t duplicates = 0;  ///< frames received again and dropped
};

class Conduit {
 public:
  Conduit(ConduitConfig config, Time now);

  // ---- sending ------------------------------------------------------------------------------

  /// False while the buffer or the queue is full. Senders of routed frames check this first.
  bool can_accept(bool bulk = true) const {
    return buffered_ < config_.buffer && queue_.bytes(bulk) < config_.queue;
  }
  /// Takes a frame even if can_accept() is false (Control frames must get through). Ignored after
  /// bye(). On a dead conduit it can be salvaged.
  void submit(const OutFrame& frame, std::uint16_t hops = kMaxHops) { submit(frame, hops, false); }
  /// The same, but the payload is not copied before it is written: it must stay until own_some()
  /// returns false. Not for a conduit that may compress.
  void submit_borrowed(const OutFrame& frame) { submit(frame, kMaxHops, true); }
  /// Copies about `bytes` bytes of borrowed payloads, of frames that the peer has not acknowledged
  /// meanwhile. False: nothing is borrowed any more.
  bool own_some(std::size_t bytes) { return packets_.own_some(bytes); }
  /// Passes on a frame that has arrived elsewhere; `hops` is already counted down.
  void forward(const InFrame& frame, std::uint16_t hops);
  /// Begins to compress large frames if the compressor finds that worth it. Buffers and windows
  /// still count the size of the frame. The peer must have a compressor.
  void compress() { compressing_ = config_.compressor != nullptr; }
  /// Ends the sending: the peer learns that after all data.
  void bye();
  /// All that was submitted, and bye() if it was called, has been acknowledged.
  bool flushed() const { return buffered_ == 0; }
  std::size_t buffered() const { return buffered_; }
  /// Receipts of forwarded frames that the peer has acknowledged since the last call.
  std::vector<Receipt> take_settled() { return std::exchange(settled_, {}); }
  /// The peer needs nothing more: all receipts are settled.
  void settle_all();
  /// Bytes submitted that the other end has not passed on yet.
  std::size_t backlog() const { return queue_.backlog(); }

  // ---- streams ------------------------------------------------------------------------------

  /// A stream to the peer stands, authenticated.
  StreamId stream_up(Time now);
  /// It is gone, or given up. Other streams send its unacknowledged frames again.
  void stream_down(StreamId id);
  std::size_t streams() const { return streams_.size(); }
  /// After the stream stands, a wide Ping of that many bytes goes before any data, and its answer
  /// is as wide.
  void probe(StreamId id, std::size_t bytes);
  /// The answer has arrived.
  bool probed(StreamId id) const;
  /// Some stream has heard the peer's Hello.
  bool connected() const { return streams_.connected(); }
  /// The peer's, once its Hello has been heard; else 0.
  std::uint64_t peer_session() const { return peer_session_; }

  /// Appends packets for the stream to write next: at least one if there is anything, then up to
  /// about `limit` bytes. Without `bulk` only express frames and unsequenced ones.
  void output(StreamId id, Time now, std::size_t limit, std::vector<PacketPtr>& out,
              bool bulk = true);
  bool has_output(StreamId id) const;
  /// New frames stay off the stream, since some that it carries are late.
  bool avoids(StreamId id) const { return late_.avoids(id, streams_.size(), clock()); }
  /// Whether some stream may have something to write; checks none of them.
  bool has_output() const;
  /// Some of it is more than express frames.
  bool bulk_waits() const { return !queue_.empty(true) || sent_.any_lost(); }
  bool express_waits() const { return !queue_.empty(false); }
  /// Only bulk that was not sent yet waits, so a stream that takes none is not needed.
  bool new_bulk_alone() const {
    return !streams_.some_owe() && !in_.due() && !express_waits() && !sent_.any_lost() &&
           late_.empty();
  }
  /// Bytes of unsent frames that are larger than express frames.
  std::size_t unsent_bulk() const { return queue_.bytes(true); }

  enum class Outcome : std::uint8_t {
    Good,     ///< go on
    Refused,  ///< the peer will not serve this conduit; `reason` is its sentence. It is dead
    Broken,   ///< the peer breaks the protocol: give up the stream. The conduit is dead
  };
  struct Input {
    std::size_t used = 0;  ///< bytes taken; give the rest again, with more behind it
    Outcome outcome = Outcome::Good;
    std::string reason;
  };
  /// True: consumed. False: the sink has kept the frame, and its owner calls consume() later.
  using Sink = std::function<bool(const InFrame& frame, std::uint16_t hops)>;
  /// `bytes` begins at the end of the last call's `used`. The sink may call submit() and consume().
  /// The last `placed` bytes of the first frame have come and are elsewhere (see arriving). If
  /// `memory` is given, they are its whole body, and there.
  Input input(StreamId id, std::span<const std::byte> bytes, Time now, const Sink& sink,
              std::size_t placed = 0, std::shared_ptr<Packet> memory = nullptr);
  /// The frame whose first `bytes` have come, so that the rest can be read to its destination:
  /// `body` is the part that has come, `placed` the size of the rest. Empty: not known yet, not a
  /// routed frame, or one that has come before.
  std::optional<InFrame> arriving(StreamId id, std::span<const std::byte> bytes) const;

  /// Makes routed frames carry receipts; they are acknowledged when settled.
  void keep_custody() {
    in_.keep_custody();
    late_.disable();
  }
  /// A frame that carried a receipt has arrived at its next node, or is dropped.
  void settle(std::uint64_t sequence) { in_.settle(sequence, clock(), ack_delay()); }
  /// A frame with `body` bytes that the sink has kept takes no more room.
  void consume(std::size_t body) { in_.consume(kHeaderSize + body, clock(), ack_delay()); }

  /// The path's round trip, from its streams. If it is short, no frame is late. If it is long,
  /// acknowledgements come late in any case, and wait for a quarter of it.
  void set_round_trip(Time round_trip) { late_.set_round_trip(round_trip); }

  // ---- time and end -------------------------------------------------------------------------

  /// When to call tick() next, if nothing else happens; checks no stream, so it may be too early.
  std::optional<Time> deadline() const;
  /// Does what is due. Returns the streams to be given up for their silence (the owner closes
  /// them and calls stream_down).
  std::vector<StreamId> tick(Time now);

  /// The peer has said Bye and all it sent before has arrived.
  bool peer_ended() const { return peer_bye_ != 0 && in_.received() >= peer_bye_; }
  /// Why the conduit is dead; empty while it is alive.
  const std::string& dead() const { return dead_; }
  void fail(std::string reason);
  /// It is dead because the peer has restarted, and knows nothing of it.
  bool peer_anew() const { return peer_anew_; }
  /// For a dead conduit: the routed frames that were submitted and not acknowledged. Frames that
  /// were sent may have arrived.
  void salvage(const std::function<void(const InFrame& frame)>& take) const;
  const ConduitCounts& counts() const { return counts_; }
  const ConduitConfig& config() const { return config_; }
  /// The latest time that it has got.
  Time clock() const { return streams_.now(); }

  /// The time since the peer was last heard. Zero before the first stream, and at the first call
  /// after this process did not run.
  Time silence(Time now) const { return streams_.silence(now); }
  void set_patience(Time patience);

 private:
  void enqueue(std::shared_ptr<Packet> packet);
  void submit(const OutFrame& frame, std::uint16_t hops, bool borrow);
  PacketPtr unsequenced(FrameKind kind, std::span<const std::byte> body);
  PacketPtr next_new(StreamId id, bool bulk);
  PacketPtr repeat(std::uint64_t sequence, const SentFrames::Slot& slot);
  PacketPtr on_the_wire(PacketPtr packet);
  void settle(Packet& packet);
  Time ack_delay() const;
  std::uint64_t late_for(StreamId id, bool bulk) const {
    return late_.next(id, bulk, sent_, clock());
  }
  /// Says what the peer has done wrong, or why it refuses the stream. Empty if all is well.
  using Objection = std::optional<std::string>;
  Objection take_hello(ConduitStreams::Stream& stream, const Decoded& frame);
  Objection take_ack(const Ack& ack);
  Objection take(ConduitStreams::Stream& stream, const Decoded& frame, Time now, const Sink& sink,
                 Outcome& outcome, std::shared_ptr<Packet> memory = nullptr);
  Objection take_compressed(ConduitStreams::Stream& stream, std::span<const std::byte> body,
                            Time now, const Sink& sink, Outcome& outcome);

  ConduitConfig config_;
  std::string dead_;
  ConduitCounts counts_;

  PacketMaker packets_;
  SendQueue queue_;
  SentFrames sent_;
  LateFrames late_;
  ReceivedFrames in_;
  ConduitStreams streams_;

  std::vector<Receipt> settled_;
  std::size_t buffered_ = 0;
  bool bye_wanted_ = false;
  bool compressing_ = false;
  bool peer_anew_ = false;
  std::uint64_t peer_session_ = 0;
  std::uint64_t peer_bye_ = 0;
};

}  // namespace isthmus::core
