// The bodies of the frames that carry messages end to end: Envelope, Piece, Spoil, Grant, Taken and
// Credit. docs/protocol.md lists them byte by byte. Numbers are little-endian. Decoders check
// lengths and the body alone; its channel checks whether it fits the channel's state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/wire/message.hpp"

namespace isthmus::core {

using BodyHead = std::array<std::byte, 64>;

/// A message begins. The payload after it holds the message's first bytes.
struct EnvelopeBody {
  static constexpr std::size_t kSize = 44;
  std::uint64_t number = 0;  ///< of the message, from its sender to its receiver
  Envelope envelope;
  std::uint64_t ahead = 0;  ///< bytes that come without a grant: here and in pieces
  bool waits = false;       ///< the sender goes on, or ends, only when granted
  bool charged = false;     ///< kMessageCharge + ahead are charged to the window
  /// The address of the message's bytes at the sender, for its receiver to read there. Such an
  /// envelope has kLentSize bytes instead, and no payload.
  std::optional<std::uint64_t> lent{};
  static constexpr std::size_t kLentSize = kSize + 8;
};

/// Bytes of a message, from `offset` on.
struct PieceBody {
  static constexpr std::size_t kSize = 16;
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
};

/// Replaces bytes of a message that will not come. The payload says why, in UTF-8.
struct SpoilBody {
  static constexpr std::size_t kSize = 24;
  static constexpr std::size_t kMostText = 512;
  PieceBody piece;          ///< that these bytes would have been
  std::uint64_t bytes = 0;  ///< at least 1
};

/// The message has been matched: all of it may come. Or, of a lent one: all of it has been read
/// (Taken).
struct GrantBody {
  static constexpr std::size_t kSize = 16;
  std::uint64_t number = 0;
  std::uint64_t credit = 0;  ///< as in CreditBody
};

/// The bytes of the window that have become free again since the beginning: a total, so that it may
/// come late, or twice.
struct CreditBody {
  static constexpr std::size_t kSize = 8;
  std::uint64_t credit = 0;
};

/// Write a body's fixed part into `head` and return its size.
std::size_t encode(const EnvelopeBody& body, BodyHead& head);
std::size_t encode(const PieceBody& body, BodyHead& head);
std::size_t encode(const SpoilBody& body, BodyHead& head);
std::size_t encode(const GrantBody& body, BodyHead& head);
std::size_t encode(const CreditBody& body, BodyHead& head);

/// Empty: malformed. The bytes behind the first kSize of an Envelope, Piece or Spoil are payload.
/// The last `placed` bytes of a piece's payload are elsewhere.
std::optional<EnvelopeBody> decode_envelope(std::span<const std::byte> body);
std::optional<PieceBody> decode_piece(std::span<const std::byte> body, std::size_t placed = 0);
std::optional<SpoilBody> decode_spoil(std::span<const std::byte> body);
std::optional<GrantBody> decode_grant(std::span<const std::byte> body);
std::optional<CreditBody> decode_credit(std::span<const std::byte> body);

}  // namespace isthmus::core
