// Point-to-point messages between processes of different clusters: matching, windows, and the
// cutting of messages into frames. A pure state machine: no sockets, no threads, no clock, no MPI.
// The owner serialises all calls (net::Endpoint holds one lock around it).
//
// It follows MPI-4.1 section 3.5. Messages between two processes in one context do not overtake
// each other if both could match the same receive. Matching is by (context, source, tag) with
// wildcards; posting order decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/engine/service.hpp"
#include "core/wire/frame.hpp"
#include "core/wire/message.hpp"

namespace isthmus::core {

/// A message taken out of matching by Engine::extract (MPI_Mprobe); opaque to callers.
struct Extracted;

/// A message of the program that has not been matched; messages of services do not count.
struct Awaited {
  bool sent = false;  ///< from here; else one that must come
  std::uint64_t context = 0;
  std::int32_t source = kAnySource;  ///< of one to come: a rank in the communicator, or kAnySource
  NodeId peer = kNobody;             ///< of one sent
  std::int32_t tag = kAnyTag;
};

class Engine {
 public:
  explicit Engine(NodeId self, Limits limits = {});
  /// Peers `first` and the `count - 1` behind it have a window of their own. Before they are heard
  /// or sent anything.
  void set_window(NodeId first, NodeId count, std::size_t window);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // ---- the program's side -------------------------------------------------------------------

  /// Starts a send. It is Done when its data may be reused: all of it cut into frames (and
  /// copied by the conduit), and, if synchronous, matched.
  /// True: it is, and its copy waits for others to share a frame with (Limits::gathered).
  bool send(SendOp& op);

  /// More bytes of a message are there (SendOp::ready), which had not been before. Does nothing to
  /// an operation that is Done.
  void extend(SendOp& op, std::size_t ready);

  /// The bytes of a message that are not there (SendOp::ready), or have not been sent, never come.
  /// The send goes on without its data, and its receive ends with OpError::Spoilt and these words.
  /// Does nothing to an operation that is Done, or whose bytes are all there.
  void spoil(SendOp& op, std::string_view why);

  /// As send() and next_frame() at once, for a small message without others before it to its peer:
  /// its frame is in `out`, to be sent. False: it has done nothing.
  bool send_at_once(SendOp& op, OutFrame& out);

  /// Posts a receive. It is Done when its message has arrived whole.
  void recv(RecvOp& op);

  /// Takes back a receive that has matched nothing. True: it is out of the engine (state Idle),
  /// as if never posted (also when it never was). False: it has matched, and will be or is Done.
  bool cancel(RecvOp& op);

  /// For a receive that may also be served elsewhere. False: it has matched, as for cancel. True:
  /// it keeps its place among the receives, and no message of its context is matched before
  /// release(). Messages wait unseen, receives are posted. One receive of a context at a time.
  bool withhold(RecvOp& op);
  /// Ends that: `op` has been served elsewhere and leaves (state Idle), or stays posted. Then
  /// waiting messages and receives are matched, in posting order.
  void release(RecvOp& op, bool served);

  /// The first unexpected message that (context, source, tag) would match, or empty.
  std::optional<Envelope> probe(std::uint64_t context, int source, int tag) const;

  /// As probe, but takes the message out of matching. Null: it has not come. A message whose last
  /// owner drops it (on any thread) is received into nothing when the engine next sends or
  /// receives.
  std::shared_ptr<Extracted> extract(std::uint64_t context, int source, int tag);
  static const Envelope& envelope(const Extracted& message);
  /// Receives an extracted message into op.buffer; context, source and tag of op are ignored.
  /// Throws std::logic_error for a message that has been received already.
  void recv(const std::shared_ptr<Extracted>& message, RecvOp& op);

  /// Sends a message of the engine's own bytes, as a service answers.
  void post(NodeId peer, const Envelope& envelope, std::vector<std::byte> bytes);

  /// Sends of a context that begin from now on go by a link; kAnyLink: by whichever.
  void choose_link(std::uint64_t context, LinkChoice link);

  /// Processes `first` and the `count - 1` behind it have failed, for good. Operations with them
  /// end now, Done with OpError::Failed. These are sends, receives that have matched and lack data,
  /// and receives `from` them without a message. Messages that had come whole stay. From now on
  /// their frames are dropped. A send to them ends so at once, and a receive `from` them does if no
  /// message of theirs is left.
  void fail(NodeId first, NodeId count);
  bool failed(NodeId peer) const;
  /// Ends an operation early, in any state: it becomes Idle, and the engine touches neither it nor
  /// its memory any more. The engine keeps a copy of what a living peer still needs of a send.
  /// The rest of a message that has matched a receive is received into nothing. A receive that
  /// MatchedReceives has heard of stays in place until it is taken. Not from a Completion, not
  /// while the last frame's payload is in use, and not for an operation that lends or reads memory.
  /// A send must be there as a whole, or be spoilt.
  void give_up(SendOp& op);
  void give_up(RecvOp& op);

  /// Gives the messages of a context with kServiceContext to `service`, those that have come before
  /// first. Throws std::logic_error if it has a service already.
  void serve(std::uint64_t context, Service& service);
  /// Ends that. Messages not handed over are dropped; no message may come any more.
  void end_service(std::uint64_t context);

  /// Operations not yet Done, and extracted messages not yet received.
  std::size_t outstanding() const;

  // ---- peers of this host -------------------------------------------------------------------

  /// Reads memory of a peer. False: that cannot be read.
  using Reader = std::function<bool(std::uint64_t address, std::span<std::byte> to)>;
  /// Messages that the peer lends are read with `reader` when they are matched. If that cannot read
  /// them, they are requested as other messages are. A peer that lends without this breaks the
  /// protocol.
  void read_from(NodeId peer, Reader reader);
  /// A piece of a lent message that has been matched, and the memory of its receive for it.
  struct Reading {
    NodeId peer = kNobody;
    std::uint64_t number = 0;   ///< of the message
    std::uint64_t address = 0;  ///< in the peer's memory
    std::span<std::byte> to;
    std::shared_ptr<const Reader> reader;
    [[nodiscard]] bool read() const { return (*reader)(address, to); }
  };
  /// Whether a message of more than Limits::read_at_once has a piece to read.
  bool has_readings() const;
  /// The next of them; messages take turns. The caller reads it, without the engine, and calls
  /// end_reading().
  std::optional<Reading> next_reading();
  /// `good` is the result of `read`.
  void end_reading(const Reading& reading, bool good);
  /// Lends messages of at least `least` bytes to a peer that reads them: their sends are not Done
  /// before they are matched.
  void lend_to(NodeId peer, std::size_t least);

  // ---- the network's side -------------------------------------------------------------------

  /// A routed frame has arrived. Never throws and never trusts a length. False: the frame is
  /// malformed or breaks the protocol (the caller ends the conduit and reports it). A frame that
  /// has been delivered before breaks it, until one that is kRepeated has come. Any frame may come
  /// twice from then on, and the second does nothing.
  [[nodiscard]] bool deliver(const InFrame& frame);

  /// The memory for the last bytes of an arriving Piece, in the receive or where its message waits
  /// for one, so that they can be read straight to there. `body` is the part that has come,
  /// `placed` the size of the rest. Empty: no byte of its message has come before a receive, or the
  /// receive has no room for all of the piece; then read the frame whole. The memory is good until
  /// the next call of deliver() (another frame may bring the same bytes and complete the message):
  /// then call this again. When all has come, deliver() the frame with its payload `placed`,
  /// wherever that went last. The same for pieces behind it.
  Landing place(const InFrame& beginning);

  /// Limits::fine_head of messages from now on, and of the rest of those that have begun.
  void set_fine_head(std::size_t bytes);
  /// Writes the next frame to be sent into `out`; false without one. Small frames (grants, credits,
  /// envelopes of small messages) come before pieces of large ones; large ones take turns between
  /// peers. `out.payload` borrows from the operation until the next call of next_frame() or
  /// payload_copied(); a send whose last bytes it is becomes Done then.
  bool next_frame(OutFrame& out) { return next_frame(out, {}); }
  /// Whether the way to a peer by a link takes a frame now: a bulk one, or an express one. Either
  /// may have room without the other.
  using Room = std::function<bool(NodeId peer, bool bulk, LinkChoice link)>;
  /// As above, but only a frame that has room; false without one.
  bool next_frame(OutFrame& out, const Room& room);
  /// A frame for this process itself is delivered to it; the owner need not know. False: it breaks
  /// the protocol.
  [[nodiscard]] bool loop_back(const OutFrame& out);
  /// The last frame's payload has been copied. For an owner that stops while frames are left.
  void payload_copied();
  /// The frame that next_frame() has given last holds the end of its message.
  bool payload_ends() const;
  /// True when next_frame() should be called: it has a frame, or a send to complete.
  bool has_output() const;

  /// Bytes of small messages that wait so, to all peers.
  std::size_t gathered() const;

  /// Number of completions and arrivals so far; changes whenever a waiting program may have
  /// something new to see.
  std::uint64_t events() const;

  // ---- figures, for tests and diagnostics ---------------------------------------------------

  /// At most `most` of the messages that this process waits for: receives posted, and sends that
  /// wait to be matched.
  std::vector<Awaited> awaited(std::size_t most) const;

  /// Payload bytes held for messages that no receive has matched.
  std::size_t buffered_bytes() const;
  struct PeerFigures {
    std::size_t buffered = 0;     ///< payload bytes held of its unmatched messages
    std::size_t window_left = 0;  ///< bytes that may still be sent to it without a grant
    std::size_t credit_due = 0;   ///< further bytes that it may send, not reported to it yet
  };
  PeerFigures figures(NodeId peer) const;

 private:
  struct State;
  bool take_in(const InFrame& frame);
  std::unique_ptr<State> state_;
};

}  // namespace isthmus::core
