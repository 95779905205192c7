#include "net/conduit/frame_run.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace isthmus::net {
namespace {

// Smaller frames differ in size, at the beginning and the end of a message.
constexpr std::size_t kLeast = std::size_t{32} * 1024;

}  // namespace

void FrameRun::expect(std::span<const std::byte> head, std::span<std::byte> place) {
  expected_ = next_ = left_ = 0;
  if (head.size() < kHead || place.empty()) return;
  core::FrameHeader header = core::read_header(head.data());
  if (header.kind != core::FrameKind::Piece || header.body_size < kLeast) return;
  auto piece = core::decode_piece(head.subspan(core::kHeaderSize, core::PieceBody::kSize),
                                  header.body_size - core::PieceBody::kSize);
  if (!piece) return;
  const std::size_t payload = header.body_size - core::PieceBody::kSize;
  piece->offset += payload;
  for (; expected_ < kMost && !place.empty(); ++expected_) {
    const std::size_t size = std::min(payload, place.size());
    header.body_size = static_cast<std::uint32_t>(core::PieceBody::kSize + size);
    core::BodyHead body;
    core::encode(*piece, body);
    core::encode_header(header, expects_[expected_].data());
    std::memcpy(expects_[expected_].data() + core::kHeaderSize, body.data(),
                core::PieceBody::kSize);
    places_[expected_] = place.first(size);
    place = place.subspan(size);
    piece->offset += size;
  }
}

std::span<const iovec> FrameRun::parts() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < expected_; ++i) {
    parts_[count++] = {heads_[i].data(), kHead};
    parts_[count++] = {places_[i].data(), places_[i].size()};
  }
  parts_[count++] = {behind_.data(), kBehind};
  return std::span(parts_).first(count);
}

std::optional<FrameRun::Frame> FrameRun::next() {
  if (next_ == expected_ || left_ < kHead) return {};
  auto& head = heads_[next_];
  auto expects = expects_[next_];
  core::set_sequence(expects.data(), core::read_header(head.data()).sequence);
  if (head != expects) return {};
  const std::size_t payload = places_[next_].size();
  const std::size_t landed = std::min(left_ - kHead, payload);
  left_ -= kHead + landed;
  ++next_;
  return Frame{head, payload, landed};
}

bool FrameRun::missed() const {
  return next_ < expected_ && left_ >= kHead &&
         core::read_header(heads_[next_].data()).kind == core::FrameKind::Piece;
}

std::size_t FrameRun::rest(std::byte* to) {
  const std::size_t all = std::exchange(left_, 0);
  std::size_t left = all;
  const auto copy = [&](const std::byte* from, std::size_t size) {
    size = std::min(size, left);
    std::memcpy(to, from, size);
    to += size;
    left -= size;
  };
  for (; next_ < expected_; ++next_) {
    copy(heads_[next_].data(), kHead);
    copy(places_[next_].data(), places_[next_].size());
  }
  copy(behind_.data(), kBehind);
  expected_ = next_ = 0;
  return all;
}

}  // namespace isthmus::net
