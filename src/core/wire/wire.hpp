// Frames as bytes: conduits write them to and read them from streams. docs/protocol.md documents
// the form byte by byte. Everything is little-endian on every host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/wire/frame.hpp"

namespace isthmus::core {

/// The number of the wire protocol: of frames between nodes, and of control messages between
/// launcher and agents. Builds with different numbers refuse one another with a sentence that names
/// both. tests/architecture/wire_test.py ties it to the definitions; wire_history.txt has the past.
inline constexpr std::uint16_t kProtocolVersion = 3;

inline constexpr std::size_t kHeaderSize = 24;
/// The number of conduits that a forwarded frame may cross; a loop of routes ends there.
inline constexpr std::uint16_t kMaxHops = 16;

struct FrameHeader {
  std::uint32_t body_size = 0;
  FrameKind kind{};
  std::uint8_t flags = 0;  ///< of routed frames: zero or one FrameFlag; of others zero
  std::uint16_t hops = 0;  ///< conduits it may still cross after this one
  NodeId source = kNobody;
  NodeId destination = kNobody;
  std::uint64_t sequence = 0;  ///< from 1 in each direction of a conduit; 0: not sequenced
};

/// Sequenced frames are delivered exactly once; the others belong to one stream and die with it.
constexpr bool is_sequenced(FrameKind kind) {
  return kind != FrameKind::Hello && kind != FrameKind::Ack && kind != FrameKind::Ping &&
         kind != FrameKind::Refuse && kind != FrameKind::Compressed && kind != FrameKind::Leg;
}
/// Routed frames travel end to end, over gateways.
constexpr bool is_routed(FrameKind kind) {
  return kind >= FrameKind::Envelope && kind < FrameKind::Control;
}
const char* name_of(FrameKind kind);

void encode_header(const FrameHeader& header, std::byte* out);
/// Changes that of an encoded header.
void set_sequence(std::byte* header, std::uint64_t sequence);
/// Reads kHeaderSize bytes without checks.
FrameHeader read_header(const std::byte* bytes);

/// The result of decode() for the beginning of some bytes.
struct Decoded {
  enum class State { Incomplete, Frame, Malformed } state = State::Incomplete;
  std::size_t size = 0;  ///< Frame: bytes it takes. Incomplete: bytes needed to go on
  FrameHeader header;
  std::span<const std::byte> body;
  std::string reason;  ///< Malformed: the error
};

/// Reads the frame at the beginning of `bytes`. Checks all that can be known from the frame alone:
/// kind, size against kMaxBody, flags, sequence. Never needs more than kHeaderSize + kMaxBody
/// bytes. The last `placed` bytes of its body are elsewhere; the next frame follows the others.
Decoded decode(std::span<const std::byte> bytes, std::size_t placed = 0);

/// Writes and reads the fixed-size fields of bodies.
class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}
  void u8(std::uint8_t v);
  void u16(std::uint16_t v);
  void u32(std::uint32_t v);
  void u64(std::uint64_t v);
  void text(std::string_view v);  ///< at most 255 bytes, its length before it

 private:
  std::byte* room(std::size_t bytes);
  std::vector<std::byte>& out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  std::uint64_t u64();
  std::string text();
  /// False once anything was read beyond the end (it read as zero).
  bool good() const { return good_; }
  bool at_end() const { return in_.empty(); }

 private:
  template <class T>
  T get();
  std::span<const std::byte> in_;
  bool good_ = true;
};

/// The first byte of a wide Ping: asks for another one as wide, or answers. The others are padding.
inline constexpr std::byte kWideQuestion{1}, kWideAnswer{0};

/// The first frame in each direction of every stream.
struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::uint32_t stream = 0;        ///< number of the stream within the conduit
  std::uint64_t session = 0;       ///< drawn at random by each end when the conduit is made
  std::uint64_t peer_session = 0;  ///< the other end's, or 0 when not yet known
  std::uint64_t received = 0;      ///< all sequence numbers up to this have been received
  std::uint64_t window = 0;        ///< bytes of frames the other end may have unconsumed here
  std::string software;            ///< for messages: the release of Isthmus
};
std::vector<std::byte> encode_hello(const Hello& hello);
/// Fails only on the parts that no version may change: the mark and the version, with the `reason`.
std::optional<Hello> decode_hello(std::span<const std::byte> body, std::string& reason);

/// The frames that have arrived at the acknowledgement's sender.
struct Ack {
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  std::uint64_t received = 0;  ///< all sequence numbers up to this
  std::uint64_t consumed = 0;  ///< bytes of frames (with headers) taken out of the window, ever
  Ranges beyond;               ///< further numbers received: [first, last], ascending, disjoint
};
inline constexpr std::size_t kMaxAckRanges = 64;
std::vector<std::byte> encode_ack(const Ack& ack);
std::optional<Ack> decode_ack(std::span<const std::byte> body);

}  // namespace isthmus::core
