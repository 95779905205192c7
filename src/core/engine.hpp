// Point-to-point messages between processes of different clusters: matching, windows, and the
// cutting of messages into frames. A pure state machine: no sockets, no threads, no clock, no
// MPI. The owner serialises all calls (net::Endpoint holds one lock around it).
//
// Semantics are those of MPI-4.1 section 3.5: messages between two processes in one context do
// not overtake each other where both could match the same receive; matching is by
// (context, source, tag) with wildcards; posting order decides.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/frame.hpp"
#include "core/ids.hpp"

namespace isthmus::core {

inline constexpr int kAnySource = -1;
inline constexpr int kAnyTag = -1;

/// What a message is matched by, and its size in (packed) bytes.
struct Envelope {
  std::uint64_t context = 0;
  std::int32_t source = 0;  ///< the sender's rank in the communicator
  std::int32_t tag = 0;
  std::uint64_t size = 0;
};

enum class OpState : std::uint8_t { Idle, Active, Done };
enum class OpError : std::uint8_t { None, Truncated };

/// Common to sends and receives. The caller owns the operation and keeps it, and the memory it
/// names, in place from posting until `done()`, or until cancel() returned true. The engine does
/// not touch it afterwards. `state` becomes Done (release) as the engine's last act upon it, so
/// another thread that sees done() (acquire) may read the results without a lock.
struct Op {
  std::atomic<OpState> state{OpState::Idle};
  bool done() const { return state.load(std::memory_order_acquire) == OpState::Done; }
};

struct SendOp : Op {
  NodeId peer = kNobody;
  Envelope envelope;                ///< size is taken from data
  std::span<const std::byte> data;  ///< contiguous (packed) bytes
  bool synchronous = false;         ///< done only when matched (MPI_Ssend)

  // The engine's own.
  std::uint64_t number = 0;  ///< of the message, per peer
  std::size_t sent = 0;      ///< bytes cut into frames so far
  bool granted = false;      ///< the receiver has matched it
};

struct RecvOp : Op {
  std::uint64_t context = 0;
  std::int32_t source = kAnySource;  ///< a rank in the communicator, or kAnySource
  std::int32_t tag = kAnyTag;
  std::byte* buffer = nullptr;
  std::size_t capacity = 0;

  // Results.
  Envelope envelope;               ///< of the message matched
  OpError error = OpError::None;   ///< Truncated: capacity bytes stored, the rest dropped

  // The engine's own.
  std::size_t received = 0;
  NodeId peer = kNobody;
  std::uint64_t number = 0;
};

/// A message taken out of matching by Engine::extract (MPI_Mprobe); opaque to callers.
struct Extracted;

/// Sizes that bound the engine's memory. A receiver holds at most `window` payload bytes of
/// unmatched messages per sending peer; more waits at the sender. Envelopes are not counted: the
/// sender's own outstanding sends bound them.
struct Limits {
  std::size_t window = std::size_t{1} << 20;
  std::size_t piece = std::size_t{64} * 1024;  ///< payload per frame, at most kMaxBody - 64
};

class Engine {
 public:
  explicit Engine(NodeId self, Limits limits = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // ---- the program's side -------------------------------------------------------------------

  /// Starts a send. It is Done when its data may be reused: all of it cut into frames (and
  /// copied by the conduit), and, if synchronous, matched.
  void send(SendOp& op);

  /// Posts a receive. It is Done when its message has arrived whole.
  void recv(RecvOp& op);

  /// Takes back a receive that has matched nothing. True: it is out of the engine (state Idle),
  /// as if never posted. False: it has matched, and will be or is Done.
  bool cancel(RecvOp& op);

  /// The first unexpected message that (context, source, tag) would match, or nothing.
  std::optional<Envelope> probe(std::uint64_t context, int source, int tag) const;

  /// As probe, but takes the message out of matching. Null: none there.
  std::shared_ptr<Extracted> extract(std::uint64_t context, int source, int tag);
  static const Envelope& envelope(const Extracted& message);
  /// Receives an extracted message into op.buffer; context, source and tag of op are ignored.
  void recv(const std::shared_ptr<Extracted>& message, RecvOp& op);

  /// Operations not yet Done, and extracted messages not yet received.
  std::size_t outstanding() const;

  // ---- the network's side -------------------------------------------------------------------

  /// A routed frame has arrived. Never throws and never trusts a length: false when the frame is
  /// malformed or breaks the protocol (the caller ends the conduit and says so).
  [[nodiscard]] bool deliver(const InFrame& frame);

  /// Writes the next frame to be sent into `out`; false when there is none now. Small frames
  /// (grants, credits, envelopes of small messages) come before pieces of large ones; large ones
  /// take turns between peers. `out.payload` borrows from the operation until the next call.
  bool next_frame(OutFrame& out);
  bool has_output() const;

  /// Number of completions and arrivals so far; changes whenever a waiting program may have
  /// something new to see.
  std::uint64_t events() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace isthmus::core
