#include "core/wire/batch.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/little_endian.hpp"

namespace isthmus::core {
namespace {

// Number of the first message, context, source; then for each message its tag, its size, itself.
constexpr std::size_t kBegin = 8 + 8 + 4, kEach = 4 + 2;

}  // namespace

// The batch that takes the message: the last one, or a new one. Null: neither has room.
Batches::Batch* Batches::open(std::uint64_t number, const Envelope& envelope, std::size_t bytes) {
  if (!waiting_.empty()) {
    Batch& last = waiting_.back();
    if (last.next == number && last.like.context == envelope.context &&
        last.like.source == envelope.source && last.size + bytes <= kExpressBody) {
      return bytes_ + bytes <= most_ ? &last : nullptr;
    }
  }
  if (kBegin + bytes > kExpressBody || bytes_ + kBegin + bytes > most_) return nullptr;
  Batch& made = waiting_.emplace_back();
  made.body =
      spare_ ? std::move(spare_) : std::make_unique_for_overwrite<std::byte[]>(kExpressBody);
  made.size = kBegin;
  made.like = envelope;
  store_number(made.body.get(), number);
  store_number(made.body.get() + 8, envelope.context);
  store_number(made.body.get() + 16, static_cast<std::uint32_t>(envelope.source));
  bytes_ += kBegin;
  return &made;
}

bool Batches::add(std::uint64_t number, const Envelope& envelope, std::span<const std::byte> data) {
  Batch* const batch = open(number, envelope, kEach + data.size());
  if (batch == nullptr) return false;
  std::byte* const to = batch->body.get() + batch->size;
  store_number(to, static_cast<std::uint32_t>(envelope.tag));
  store_number(to + 4, static_cast<std::uint16_t>(data.size()));
  if (!data.empty()) std::memcpy(to + kEach, data.data(), data.size());
  batch->size += kEach + data.size();
  batch->next = number + 1;
  bytes_ += kEach + data.size();
  return true;
}

std::span<const std::byte> Batches::next() {
  Batch& first = waiting_.front();
  const std::size_t size = first.size;
  spare_ = std::exchange(taken_, std::move(first.body));
  bytes_ -= size;
  waiting_.pop_front();
  return {taken_.get(), size};
}

BatchReader::BatchReader(std::span<const std::byte> body) {
  malformed_ = body.size() <= kBegin;
  if (malformed_) return;
  message_.number = load_number<std::uint64_t>(body.data());
  message_.envelope.context = load_number<std::uint64_t>(body.data() + 8);
  message_.envelope.source =
      static_cast<std::int32_t>(load_number<std::uint32_t>(body.data() + 16));
  message_.charged = true;
  rest_ = body.subspan(kBegin);
}

std::optional<EnvelopeBody> BatchReader::next(std::span<const std::byte>& payload) {
  if (rest_.empty() || malformed_) return std::nullopt;
  const std::size_t size = rest_.size() < kEach ? 0 : load_number<std::uint16_t>(rest_.data() + 4);
  if (rest_.size() < kEach + size) {
    malformed_ = true;
    return std::nullopt;
  }
  EnvelopeBody message = message_;
  ++message_.number;
  message.envelope.tag = static_cast<std::int32_t>(load_number<std::uint32_t>(rest_.data()));
  message.envelope.size = message.ahead = size;
  payload = rest_.subspan(kEach, size);
  rest_ = rest_.subspan(kEach + size);
  return message;
}

Carried carried_by(FrameKind kind, std::span<const std::byte> body) {
  const auto behind = [&](std::size_t head) {
    return static_cast<std::uint64_t>(std::max(body.size(), head) - head);
  };
  Carried sum;
  if (kind == FrameKind::Envelope) {
    const auto begun = decode_envelope(body);
    const bool lent = begun && begun->lent;
    return {.messages = 1, .bytes = lent ? 0 : behind(EnvelopeBody::kSize)};
  }
  if (kind == FrameKind::Piece) return {.bytes = behind(PieceBody::kSize)};
  if (kind != FrameKind::Batch) return sum;
  BatchReader reader(body);
  for (std::span<const std::byte> payload; reader.next(payload);) {
    ++sum.messages;
    sum.bytes += payload.size();
  }
  return sum;
}

}  // namespace isthmus::core
