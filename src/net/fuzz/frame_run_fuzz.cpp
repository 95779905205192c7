// A peer may send anything behind a piece. No byte that was read is lost, and a piece is found only
// where it belongs. Four bytes give the sizes; then each step is
// three bytes of what comes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "net/conduit/frame_run.hpp"

using namespace isthmus;
using net::FrameRun;
using Bytes = std::vector<std::byte>;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

Bytes piece(std::uint64_t offset, std::size_t payload) {
  Bytes bytes(FrameRun::kHead + payload, std::byte(offset >> 12));
  core::FrameHeader header;
  header.body_size = static_cast<std::uint32_t>(core::PieceBody::kSize + payload);
  header.kind = core::FrameKind::Piece;
  header.sequence = offset;
  core::encode_header(header, bytes.data());
  core::BodyHead body;
  core::encode(core::PieceBody{.number = 1, .offset = offset}, body);
  std::copy_n(body.begin(), core::PieceBody::kSize, bytes.begin() + core::kHeaderSize);
  return bytes;
}

void append(Bytes& all, std::span<const std::byte> more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::size_t payload = std::size_t{32} * 1024 + (data[0] * 128U);
  Bytes place((data[1] | data[2] << 8U) * 3U);
  FrameRun run;
  const Bytes first = piece(0, payload);
  run.expect(std::span(first).first(FrameRun::kHead), place);

  Bytes sent;
  std::uint64_t offset = payload;
  for (std::size_t at = 4; at + 3 <= size && sent.size() < 300'000; at += 3) {
    const std::size_t amount = data[at + 1] | data[at + 2] << 8U;
    if (data[at] % 4 == 0) {
      sent.resize(sent.size() + amount, std::byte{data[at]});
      continue;
    }
    const std::size_t left = place.size() + payload - std::min(offset, place.size() + payload);
    const std::size_t next = data[at] % 4 == 1 ? amount : std::min(payload, left);
    Bytes bytes = piece(offset, next);
    if (data[at] % 4 == 2) bytes[amount % bytes.size()] ^= std::byte{data[at]};
    append(sent, bytes);
    offset += next;
  }
  sent.resize(sent.size() - sent.size() * data[3] / 1024);

  std::size_t read = 0;
  for (const iovec& part : run.parts()) {
    const std::size_t bytes = std::min(part.iov_len, sent.size() - read);
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(read), bytes,
                static_cast<std::byte*>(part.iov_base));
    read += bytes;
  }
  run.came(read);
  Bytes found;
  for (std::size_t placed = 0; const auto frame = run.next();) {
    append(found, frame->head);
    const auto head = core::decode_piece(frame->head.subspan(core::kHeaderSize), frame->payload);
    demand(head && head->number == 1 && head->offset == payload + placed);
    demand(frame->landed <= frame->payload && frame->payload <= place.size() - placed);
    append(found, std::span(place).subspan(placed, frame->landed));
    placed += frame->payload;
  }
  Bytes rest(FrameRun::kRest);
  rest.resize(run.rest(rest.data()));
  append(found, rest);
  demand(std::equal(found.begin(), found.end(), sent.begin(),
                    sent.begin() + static_cast<std::ptrdiff_t>(read)));
  return 0;
}
