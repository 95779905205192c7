#include "core/wire/message_body.hpp"

#include <concepts>

#include "core/base/little_endian.hpp"

namespace isthmus::core {

namespace {

constexpr std::uint32_t kWaits = 1;
constexpr std::uint32_t kCharged = 2;
constexpr std::uint32_t kLent = 4;

class HeadWriter {
 public:
  explicit HeadWriter(BodyHead& head) : head_(head) {}

  template <std::unsigned_integral T>
  HeadWriter& put(T value) {
    store_number(head_.data() + at_, value);
    at_ += sizeof(T);
    return *this;
  }
  HeadWriter& put(std::int32_t value) { return put(static_cast<std::uint32_t>(value)); }
  std::size_t size() const { return at_; }

 private:
  BodyHead& head_;
  std::size_t at_ = 0;
};

// Its user has checked the length.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t u64() { return get<std::uint64_t>(); }
  std::uint32_t u32() { return get<std::uint32_t>(); }
  std::int32_t i32() { return static_cast<std::int32_t>(get<std::uint32_t>()); }

 private:
  template <std::unsigned_integral T>
  T get() {
    const T value = load_number<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t encode(const EnvelopeBody& body, BodyHead& head) {
  const Envelope& e = body.envelope;
  const std::uint32_t flags =
      (body.waits ? kWaits : 0) | (body.charged ? kCharged : 0) | (body.lent ? kLent : 0);
  HeadWriter writer(head);
  writer.put(body.number).put(e.context).put(e.source).put(e.tag).put(e.size);
  writer.put(body.ahead).put(flags);
  if (body.lent) writer.put(*body.lent);
  return writer.size();
}

std::size_t encode(const PieceBody& body, BodyHead& head) {
  return HeadWriter(head).put(body.number).put(body.offset).size();
}

std::size_t encode(const SpoilBody& body, BodyHead& head) {
  return HeadWriter(head).put(body.piece.number).put(body.piece.offset).put(body.bytes).size();
}

std::size_t encode(const GrantBody& body, BodyHead& head) {
  return HeadWriter(head).put(body.number).put(body.credit).size();
}

std::size_t encode(const CreditBody& body, BodyHead& head) {
  return HeadWriter(head).put(body.credit).size();
}

std::optional<EnvelopeBody> decode_envelope(std::span<const std::byte> bytes) {
  if (bytes.size() < EnvelopeBody::kSize) return std::nullopt;
  HeadReader reader(bytes);
  EnvelopeBody body;
  body.number = reader.u64();
  body.envelope.context = reader.u64();
  body.envelope.source = reader.i32();
  body.envelope.tag = reader.i32();
  body.envelope.size = reader.u64();
  body.ahead = reader.u64();
  const std::uint32_t flags = reader.u32();
  body.waits = (flags & kWaits) != 0;
  body.charged = (flags & kCharged) != 0;
  const bool lent = (flags & kLent) != 0;
  if (lent) {
    if (bytes.size() != EnvelopeBody::kLentSize || !body.waits || body.ahead != 0 ||
        body.envelope.size == 0) {
      return std::nullopt;
    }
    body.lent = reader.u64();
  }
  if ((flags & ~(kWaits | kCharged | kLent)) != 0 || body.ahead > body.envelope.size ||
      (!lent && bytes.size() - EnvelopeBody::kSize > body.ahead) ||
      (!body.charged && body.ahead != 0) ||
      (!body.waits && (!body.charged || body.ahead != body.envelope.size))) {
    return std::nullopt;
  }
  return body;
}

std::optional<PieceBody> decode_piece(std::span<const std::byte> bytes, std::size_t placed) {
  // An empty piece has no purpose.
  if (bytes.size() < PieceBody::kSize || bytes.size() + placed == PieceBody::kSize) {
    return std::nullopt;
  }
  HeadReader reader(bytes);
  PieceBody body;
  body.number = reader.u64();
  body.offset = reader.u64();
  const std::size_t payload = bytes.size() - PieceBody::kSize + placed;
  if (body.offset + payload < body.offset) return std::nullopt;
  return body;
}

std::optional<SpoilBody> decode_spoil(std::span<const std::byte> bytes) {
  if (bytes.size() < SpoilBody::kSize || bytes.size() > SpoilBody::kSize + SpoilBody::kMostText) {
    return std::nullopt;
  }
  HeadReader reader(bytes);
  SpoilBody body;
  body.piece.number = reader.u64();
  body.piece.offset = reader.u64();
  body.bytes = reader.u64();
  if (body.bytes == 0 || body.piece.offset + body.bytes < body.piece.offset) return std::nullopt;
  return body;
}

std::optional<GrantBody> decode_grant(std::span<const std::byte> bytes) {
  if (bytes.size() != GrantBody::kSize) return std::nullopt;
  HeadReader reader(bytes);
  return GrantBody{.number = reader.u64(), .credit = reader.u64()};
}

std::optional<CreditBody> decode_credit(std::span<const std::byte> bytes) {
  if (bytes.size() != CreditBody::kSize) return std::nullopt;
  HeadReader reader(bytes);
  return CreditBody{.credit = reader.u64()};
}

}  // namespace isthmus::core
