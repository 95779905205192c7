#include "net/ucx/said.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "core/wire/wire.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/stream_io.hpp"

namespace isthmus::net::ucx {

asio::awaitable<void> say(Stream& stream, core::NodeId self, const Said& said) {
  const auto body = write_said(said);
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
