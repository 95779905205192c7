// The unit that conduits carry, as the program side hands it over and gets it back.
// docs/protocol.md describes its form on the wire.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/ids.hpp"

namespace isthmus::core {

/// The content of a frame's body. Kinds from `Envelope` on travel end to end and are routed; those
/// before are between the two ends of one conduit and never leave it.
enum class FrameKind : std::uint8_t {
  Hello = 1,       ///< first on every stream: version, sender, stream number, where to resume
  Ack = 2,         ///< frames received so far
  Ping = 3,        ///< answered by an Ack; keeps idle conduits observed
  Bye = 4,         ///< the sender will send no more
  Refuse = 5,      ///< the stream will not be served; the body is the reason, UTF-8
  Ready = 6,       ///< gateway to process: every rank of the grid has joined
  Compressed = 7,  ///< a sequenced frame in fewer bytes
  Leg = 8,         ///< before Hello: whether bytes should go by another leg than this stream
  Envelope = 16,   ///< a message begins: envelope and its first bytes
  Piece = 17,      ///< more bytes of a message
  Grant = 18,      ///< the message has been matched: send the rest
  Credit = 19,     ///< the receiver has consumed buffered bytes: the window moves
  Invite = 20,     ///< addresses of a process for connections without gateways; JSON
  Batch = 21,      ///< small messages, whole
  Taken = 22,      ///< a lent message has been read
  Spoil = 23,      ///< bytes of a message will not come; why
  Control = 32,    ///< JSON for the other end's control plane (abort, ready, faults, counters)
};

/// The largest body of one frame, in bytes. Bounds what a decoder may have to hold.
inline constexpr std::size_t kMaxBody = 64 * 1024 + 64;

/// Frames with bodies up to this size are express: they overtake larger ones, bulk, wherever frames
/// wait.
inline constexpr std::size_t kExpressBody = 1024;

/// Flags of routed frames whose way has been lost (docs/protocol.md, "When a way is lost").
enum FrameFlag : std::uint8_t {
  kReturned = 1,  ///< on its way back to its source, which sends it another way
  kRepeated = 2,  ///< sent another way; it may have arrived before
};

/// One frame to be sent. `head` holds the fixed part of the body, `payload` the rest; `payload`
/// is only borrowed and must stay valid until the conduit has copied it (which it does before
/// `Conduit::submit` returns).
struct OutFrame {
  FrameKind kind{};
  NodeId source = kNobody;
  NodeId destination = kNobody;
  std::array<std::byte, 64> head{};
  std::size_t head_size = 0;
  std::span<const std::byte> payload;
  std::uint8_t flags = 0;
  // Not on the wire.
  LinkChoice link = kAnyLink;  ///< only the source uses it
  std::uint64_t lent = 0;      ///< bytes that its message lends
  bool counted = false;        ///< its payload was lent before
};

/// For a frame that is passed on: the conduit it came by, where its sender keeps it until it has
/// arrived. `session` is the near end's: a neighbour that restarted has another conduit.
struct Receipt {
  NodeId from = kNobody;
  std::uint64_t sequence = 0;
  std::uint64_t session = 0;
};

struct Packet;

/// One frame received. `body` is only valid during the call that hands it over, or as long as
/// `memory` is kept.
struct InFrame {
  FrameKind kind{};
  NodeId source = kNobody;
  NodeId destination = kNobody;
  std::span<const std::byte> body;
  std::uint8_t flags = 0;
  std::size_t placed = 0;  ///< bytes after `body`, which are at the place of Engine::place
  Receipt receipt{};       ///< kNobody's if it need not be settled
  /// Memory that holds this frame alone, and that `body` points into: an owner that keeps it may
  /// send it on as it is. Null: `body` is borrowed.
  std::shared_ptr<Packet> memory{};
};

/// The places for the payload of a frame that has come in part.
struct Landing {
  std::span<std::byte> payload;  ///< of all of its payload. Empty: read the frame whole
  /// For the bytes behind it in the same message. The engine has none of them. Empty it while
  /// another conduit has read some of them in part.
  std::span<std::byte> behind;
};

}  // namespace isthmus::core
