// Messages as the program side names them: envelopes, and the operations that send and receive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/intrusive_list.hpp"

namespace isthmus::core {

inline constexpr int kAnySource = -1;
inline constexpr int kAnyTag = -1;

/// The values that a message is matched by, and its size in (packed) bytes.
struct Envelope {
  std::uint64_t context = 0;
  std::int32_t source = 0;  ///< the sender's rank in the communicator
  std::int32_t tag = 0;
  std::uint64_t size = 0;
};

enum class OpState : std::uint8_t { Idle, Active, Done };
/// Failed: the peer's cluster has failed (Engine::fail). Spoilt: the sender could not read its data
/// (Engine::spoil).
enum class OpError : std::uint8_t { None, Truncated, Failed, Spoilt };

struct Op;

/// Is called for operations that are Done, in the engine's own calls, once each. May send and
/// receive, may destroy the operation, throws nothing, and calls no MPI: it is on whichever thread
/// has the I/O's turn.
class Completion {
 public:
  virtual void over(Op& op) = 0;

 protected:
  ~Completion() = default;
};

/// Common to sends and receives. The caller owns the operation and keeps it, and the memory it
/// names, in place from posting until `done()`, or until cancel() returned true. The engine does
/// not touch it afterwards. `state` becomes Done (release) as the engine's last act upon it, so
/// another thread that sees done() (acquire) may read the results without a lock. An operation with
/// a Completion stays in place until that has heard.
struct Op {
  std::atomic<OpState> state{OpState::Idle};
  Completion* then = nullptr;  ///< hears of the end, if not null
  bool done() const { return state.load(std::memory_order_acquire) == OpState::Done; }
};

/// SendOp::ready of a message that is there as a whole.
inline constexpr std::size_t kWholly = std::numeric_limits<std::size_t>::max();

struct SendOp : Op {
  NodeId peer = kNobody;
  Envelope envelope;                ///< size is taken from data
  std::span<const std::byte> data;  ///< contiguous (packed) bytes
  bool synchronous = false;         ///< done only when matched (MPI_Ssend)
  /// The first bytes of `data` that are there, if not all. Only they are sent. The owner tells when
  /// there are more (Engine::extend).
  std::size_t ready = kWholly;
  /// Why no more of `data` will come (Engine::spoil). Null: it will.
  std::unique_ptr<const std::string> spoilt;
  /// Bytes before and behind these of something longer that goes in several messages.
  std::size_t before = 0, behind = 0;

  // Result.
  OpError error = OpError::None;  ///< Failed: an unknown part of it has been sent

  // The engine's own.
  LinkChoice link = kAnyLink;  ///< its link, as for its context
  std::uint64_t number = 0;    ///< of the message, per peer
  std::size_t sent = 0;        ///< bytes cut into frames so far
  std::size_t ahead = 0;       ///< bytes that may go without a grant
  bool waits = false;          ///< needs a grant
  bool granted = false;        ///< the receiver has matched it
  bool lent = false;           ///< the receiver reads it from here
  bool starved = false;        ///< all that is ready has been sent, and more may go
  Links<SendOp> links;
};

class MatchedReceives;

struct RecvOp : Op {
  std::uint64_t context = 0;
  std::int32_t source = kAnySource;  ///< a rank in the communicator, or kAnySource
  std::int32_t tag = kAnyTag;
  std::byte* buffer = nullptr;
  std::size_t capacity = 0;
  MatchedReceives* tell = nullptr;  ///< hears of the match, if not null
  /// If not 0, an event tells each time that `prefix` has grown. It grows by at least this many
  /// bytes.
  std::size_t follow = 0;
  /// The process that `source` means; kNobody: any, or unknown. If it fails, so does the receive.
  NodeId from = kNobody;

  /// Bytes from the first one on that have been stored, if the receive is followed. They stay as
  /// they are, but may be written again.
  std::atomic<std::size_t> prefix{0};

  // Results.
  Envelope envelope;  ///< of the message matched
  /// Truncated: capacity bytes stored, the rest dropped. Failed, Spoilt: the buffer holds anything.
  OpError error = OpError::None;
  std::unique_ptr<const std::string> spoilt;  ///< why, in the sender's words

  // The engine's own.
  std::size_t received = 0;  ///< bytes stored, once Done
  NodeId peer = kNobody;     ///< of the message matched
  std::uint64_t number = 0;
  Links<RecvOp> links;
  RecvOp* next_matched = nullptr;
};

/// Receives that have been matched, for an owner with many posted, so that it need not look at
/// each. The engine adds, the owner takes, on any threads. A receive stays in place until it is
/// taken.
class MatchedReceives {
 public:
  void add(RecvOp& op) {
    op.next_matched = last_.load(std::memory_order_relaxed);
    while (!last_.compare_exchange_weak(op.next_matched, &op, std::memory_order_release)) {
    }
  }
  bool empty() const { return last_.load(std::memory_order_relaxed) == nullptr; }
  /// All of them, linked by next_matched.
  RecvOp* take_all() { return last_.exchange(nullptr, std::memory_order_acquire); }

 private:
  std::atomic<RecvOp*> last_{nullptr};
};

/// A message's charge to the window beside its bytes, so that a flood of tiny ones is bounded.
inline constexpr std::size_t kMessageCharge = 64;

/// Messages that may wait uncharged between a sender and a receiver; further envelopes are held
/// back at the sender. Far above what a program can use; bounds what a broken peer can ask for.
inline constexpr std::size_t kMaxWaiting = std::size_t{1} << 20;

/// Sizes that bound the engine's memory. A receiver holds at most `window` payload bytes of
/// unmatched messages per sending peer; more waits at the sender. Every envelope is charged
/// kMessageCharge to the window as well. Envelopes without room go out uncharged, and their sends
/// are not Done before they are matched, so the sender's outstanding sends bound them. All nodes of
/// a grid have the same limits (limits.hpp).
struct Limits {
  std::size_t window = std::size_t{1} << 20;
  /// Payload of a frame, at most kMaxBody - 64. Linux hands at most 62,636 bytes to a network
  /// device at once with packets of 9,000 bytes, and 65,160 with 1,500. A frame fits, with its head
  /// and records of TLS. One of 64 KiB made a second, small packet, which costs about as much. One
  /// room, 1 MiB one way, us with 64 and with 61 KiB: direct 273 and 239, not encrypted 184 and
  /// 166, two gateways 755 and 671 (30 November 2026).
  std::size_t piece = std::size_t{61} * 1024;
  /// The first part of a message that goes in small frames before larger ones follow. At least a
  /// piece.
  std::size_t fine_head = 0;
  /// The most bytes of a lent message read at a time; longer ones are read without the engine's
  /// lock.
  std::size_t read_at_once = std::size_t{1} << 20;
  /// Bytes of small messages to one peer that wait to share frames; 0: each has a frame.
  std::size_t gathered = 0;
};

}  // namespace isthmus::core
