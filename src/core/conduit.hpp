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
// long, such frames go again over another stream after two round trips (conduit_tails.cpp).
//
// Custody: an owner that passes frames on may acknowledge them only when they have arrived at the
// next node, whose owner may do the same. So the source keeps all that a node on the way could
// lose.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/compressor.hpp"
#include "core/frame_memory.hpp"
#include "core/late.hpp"
#include "core/number_set.hpp"
#include "core/wire.hpp"

namespace isthmus::core {

/// Time since an epoch of the owner's choice; only differences matter.
using Time = std::chrono::nanoseconds;
using StreamId = std::uint32_t;

/// The bytes of one frame, header included. Writers hold it until written: the conduit may have
/// let go of it by then.
struct Packet {
  FrameKind kind{};
  std::size_t size = 0;
  FrameMemory::Block data;
  std::size_t room = 0;  ///< bytes of `data`
  Receipt receipt{};
  /// The last bytes, if they are not in `data` yet: they stay there until own().
  std::span<const std::byte> borrowed{};
  void own();
  std::span<const std::byte> bytes() const { return {data.get(), size}; }
  std::span<std::byte> body() { return {data.get() + kHeaderSize, size - kHeaderSize}; }
};
using PacketPtr = std::shared_ptr<const Packet>;

/// A packet with room for a body of `body` bytes, and for the header before it.
std::shared_ptr<Packet> packet_for(std::size_t body);

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
  /// A stream that is silent for this long (or half the patience, if that is less) is given up;
  /// after half of it, it is pinged.
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
    return buffered_ < config_.buffer && (bulk ? bulk_ : express_).bytes < config_.queue;
  }
  /// Takes a frame even if can_accept() is false (Control frames must get through). Ignored after
  /// bye(). On a dead conduit it can be salvaged.
  void submit(const OutFrame& frame, std::uint16_t hops = kMaxHops);
  /// The same, but the payload is not copied before it is written: it must stay until own_some()
  /// returns false. Not for a conduit that may compress.
  void submit_borrowed(const OutFrame& frame);
  /// Copies about `bytes` bytes of borrowed payloads, of frames that the peer has not acknowledged
  /// meanwhile. False: nothing is borrowed any more.
  bool own_some(std::size_t bytes);
  /// Passes on a frame that has arrived elsewhere; `hops` is already counted down.
  void forward(const InFrame& frame, std::uint16_t hops);
  /// Begins to compress large frames if the compressor finds that worth it. Buffers and windows
  /// still count the size of the frame. The peer must have a compressor.
  void compress() { compressing_ = config_.compressor != nullptr; }
  /// Ends the sending: the peer learns that after all data.
  void bye();
  /// All that was submitted, and bye() if it was called, has been acknowledged.
  bool flushed() const;
  std::size_t buffered() const { return buffered_; }
  /// Receipts of forwarded frames that the peer has acknowledged since the last call.
  std::vector<Receipt> take_settled() { return std::exchange(settled_, {}); }
  /// The peer needs nothing more: all receipts are settled.
  void settle_all();
  /// Bytes submitted that the other end has not passed on yet.
  std::size_t backlog() const {
    return express_.bytes + bulk_.bytes + static_cast<std::size_t>(sent_bytes_ - peer_consumed_);
  }

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
  bool connected() const;
  /// The peer's, once its Hello has been heard; else 0.
  std::uint64_t peer_session() const { return peer_session_; }

  /// Appends packets for the stream to write next: at least one if there is anything, then up to
  /// about `limit` bytes. Without `bulk` only express frames and unsequenced ones.
  void output(StreamId id, Time now, std::size_t limit, std::vector<PacketPtr>& out,
              bool bulk = true);
  bool has_output(StreamId id) const;
  /// New frames stay off the stream, since some that it carries are late.
  bool avoids(StreamId id) const;
  /// Whether some stream may have something to write; checks none of them.
  bool has_output() const;
  /// Some of it is more than express frames.
  bool bulk_waits() const { return !bulk_.empty() || !again_.empty(); }
  bool express_waits() const { return !express_.empty(); }
  /// Only bulk that was not sent yet waits, so a stream that takes none is not needed.
  bool new_bulk_alone() const {
    return owing_ == 0 && !ack_due_ && express_.empty() && again_.empty() && overdue_.empty();
  }
  /// Bytes of unsent frames that are larger than express frames.
  std::size_t unsent_bulk() const { return bulk_.bytes; }
  /// Size of the next such frame, or 0.
  std::size_t next_bulk() const { return bulk_.empty() ? 0 : bulk_.packets.front()->size; }

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
  void keep_custody() { custody_ = true; }
  /// A frame that carried a receipt has arrived at its next node, or is dropped.
  void settle(std::uint64_t sequence);
  /// A frame with `body` bytes that the sink has kept takes no more room.
  void consume(std::size_t body);

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
  bool peer_ended() const { return peer_bye_ != 0 && received_ >= peer_bye_; }
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
  Time clock() const { return now_; }

  /// The time since the peer was last heard. Zero before the first stream, and at the first call
  /// after this process did not run.
  Time silence(Time now) const {
    if (next_stream_ == 1 || stood_still(now)) return Time::zero();
    return std::max(Time::zero(), now - heard_);
  }
  void set_patience(Time patience);

 private:
  struct Stream {
    bool hello_sent = false;
    bool hello_received = false;
    Time heard{};
    Time next_ping{};
    bool ping_due = false;
    bool answer_due = false;  // to its ping: others' acknowledgements do not show that it lives
    bool probe_due = false, echo_due = false, probed = false;
    std::size_t probe = 0, echo = 0;  // bytes of the wide Ping, and of the answer to the peer's
    Time late_until{};                // it has late frames, so others do not take it

    bool owes() const { return !hello_sent || ping_due || answer_due || probe_due || echo_due; }
  };
  struct Slot {
    std::shared_ptr<Packet> packet;  // null: acknowledged
    StreamId stream = 0;             // the last one that carried it
    int tries = 0;                   // over streams that stand
    Time at{};                       // when it went the last time
  };
  struct Queue {
    std::deque<std::shared_ptr<Packet>> packets;
    std::size_t bytes = 0;

    bool empty() const { return packets.empty(); }
    void push(std::shared_ptr<Packet> packet) {
      bytes += packet->size;
      packets.push_back(std::move(packet));
    }
    std::shared_ptr<Packet> pop() {
      auto packet = std::move(packets.front());
      packets.pop_front();
      bytes -= packet->size;
      return packet;
    }
  };

  void advance(Time now);
  void owe(Stream& stream, bool Stream::*what);
  void look_after(const Stream& stream);
  Time beat() const;
  bool stood_still(Time now) const;
  Time stream_timeout() const;
  void enqueue(std::shared_ptr<Packet> packet);
  std::shared_ptr<Packet> packet(std::size_t body);
  std::shared_ptr<Packet> make_packet(const FrameHeader& header, std::span<const std::byte> head,
                                      std::span<const std::byte> payload, bool borrow = false);
  void submit(const OutFrame& frame, std::uint16_t hops, bool borrow);
  void keep_for_next(std::shared_ptr<Packet> packet);
  PacketPtr unsequenced(FrameKind kind, std::span<const std::byte> body);
  Queue* next_queue(bool bulk);
  bool may_send_new(bool bulk) const;
  PacketPtr next_new(StreamId id, bool bulk);
  PacketPtr on_the_wire(PacketPtr packet);
  Slot& slot(std::uint64_t sequence);
  void settle(const std::shared_ptr<Packet>& packet);
  bool ack_pending() const;
  bool ack_rides() const;
  Time ack_delay() const;
  void ack_soon(Time now);
  std::uint64_t settled_up_to() const;
  Ack settled_ack();
  void settle_anew();
  PacketPtr make_ack();
  void acknowledged(std::uint64_t first, std::uint64_t last);
  void trim();
  void note_acknowledged(const Slot& slot);
  void look_for_late();
  bool may_repeat(const Slot& slot) const;
  std::uint64_t late_for(StreamId id, bool bulk) const;
  bool has_late_for(StreamId id) const { return late_for(id, true) != 0; }
  bool avoided(const Stream& stream) const;
  bool has_received(std::uint64_t sequence) const;
  bool note_received(std::uint64_t sequence);
  /// Says what the peer has done wrong, or why it refuses the stream. Empty if all is well.
  using Objection = std::optional<std::string>;
  Objection take_hello(Stream& stream, const Decoded& frame);
  Objection take_ack(const Ack& ack);
  Objection take(Stream& stream, const Decoded& frame, Time now, const Sink& sink, Outcome& outcome,
                 std::shared_ptr<Packet> memory = nullptr);
  Objection take_compressed(Stream& stream, std::span<const std::byte> body, Time now,
                            const Sink& sink, Outcome& outcome);

  ConduitConfig config_;
  std::string dead_;
  ConduitCounts counts_;

  // Sending.
  Queue express_, bulk_;
  int express_run_ = 0;
  std::deque<Slot> sent_;  // sequence numbers base_ ...
  std::uint64_t base_ = 1;
  std::size_t live_ = 0;                      // of sent_, not acknowledged
  std::map<std::uint64_t, Slot> stragglers_;  // before base_
  NumberSet acknowledged_;                    // from base_ on
  std::vector<Receipt> settled_;
  std::vector<std::shared_ptr<Packet>> spare_;  // small, without an owner
  std::deque<std::shared_ptr<Packet>> borrowed_;
  std::set<std::uint64_t> again_;  // lost with their stream
  Late late_;
  std::set<std::uint64_t> overdue_;  // to go again, though their stream stands
  Time acked_at_{};                  // when the last that has been acknowledged was sent
  Time look_late_ = Time::max();     // no frame is late before
  std::size_t buffered_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t peer_consumed_ = 0;
  std::uint64_t peer_window_ = 0;
  bool bye_wanted_ = false;
  bool compressing_ = false;

  // Receiving.
  bool peer_anew_ = false;
  std::uint64_t peer_session_ = 0;
  std::uint64_t received_ = 0;
  std::map<std::uint64_t, std::uint64_t> beyond_;  // first to last, not touching received_
  std::uint64_t received_bytes_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t peer_bye_ = 0;

  // Custody of received frames.
  bool custody_ = false;
  NumberSet unsettled_;
  NumberSet fresh_;  // settled, or never in custody, and not yet acknowledged

  // Acknowledging.
  std::uint64_t acked_bytes_ = 0;     // received_bytes_ when last acknowledged
  std::uint64_t acked_consumed_ = 0;  // consumed_ when last acknowledged
  unsigned unacked_ = 0;              // frames since the last acknowledgement
  bool ack_due_ = false;
  Time ack_at_{};
  Time told_at_ = -std::chrono::hours(1);  // when the last acknowledgement went

  std::map<StreamId, Stream> streams_;
  std::size_t owing_ = 0;    // of them, those that owe something
  Time look_ = Time::max();  // no stream falls silent, or needs a ping, before
  StreamId next_stream_ = 1;
  Time heard_;
  Time now_;
};

}  // namespace isthmus::core
