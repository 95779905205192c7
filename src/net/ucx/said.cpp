#include "net/ucx/said.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/wire.hpp"
#include "net/handshake.hpp"
#include "net/stream_io.hpp"

namespace isthmus::net::ucx {
namespace {

std::vector<std::byte> body_of(const Said& said) {
  std::vector<std::byte> body;
  core::Writer writer(body);
  writer.u8(static_cast<std::uint8_t>(said.says));
  if (said.says == Says::No) writer.text(said.why.substr(0, 255));
  if (said.says != Says::Here) return body;
  for (const std::uint64_t part : said.card.key) writer.u64(part);
  writer.u32(said.card.window);
  writer.u32(said.card.version);
  body.insert(body.end(), said.card.address.begin(), said.card.address.end());
  return body;
}

}  // namespace

std::optional<Said> read_said(std::span<const std::byte> body) {
  constexpr std::size_t kFixed = 1 + sizeof(Key) + 2 * sizeof(std::uint32_t);
  core::Reader reader(body);
  Said said;
  said.says = static_cast<Says>(reader.u8());
  if (said.says == Says::No) {
    said.why = reader.text();
    std::replace_if(
        said.why.begin(), said.why.end(), [](unsigned char c) { return c < ' '; }, ' ');
  } else if (said.says == Says::Here) {
    for (std::uint64_t& part : said.card.key) part = reader.u64();
    said.card.window = reader.u32();
    said.card.version = reader.u32();
    if (body.size() <= kFixed || said.card.window == 0) return std::nullopt;
    said.card.address.assign(body.begin() + kFixed, body.end());
  } else if (said.says != Says::Good && said.says != Says::Memory) {
    return std::nullopt;
  }
  return reader.good() ? std::optional(said) : std::nullopt;
}

asio::awaitable<void> say(Stream& stream, core::NodeId self, const Said& said) {
  const auto body = body_of(said);
  core::FrameHeader header;
  header.kind = core::FrameKind::Leg;
  header.source = self;
  header.destination = core::kNobody;
  header.body_size = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(core::kHeaderSize);
  core::encode_header(header, bytes.data());
  bytes.insert(bytes.end(), body.begin(), body.end());
  co_await write_all(stream, bytes);
}

asio::awaitable<Said> hear(Stream& stream) {
  const FirstFrame frame = co_await read_frame(stream, kMostSaid);
  const auto body = frame.body();
  if (frame.header.kind == core::FrameKind::Refuse) {
    throw Refusal(stream.where() + " refuses: " +
                  std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }
  auto said = frame.header.kind == core::FrameKind::Leg ? read_said(body) : std::nullopt;
  if (!said || !frame.rest().empty()) {
    throw std::runtime_error(stream.where() + " does not agree on a leg as Isthmus does");
  }
  co_return *said;
}

}  // namespace isthmus::net::ucx
