#include "net/stream/last_words.hpp"

#include <sys/uio.h>

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/wire/wire.hpp"
#include "net/host/software.hpp"
#include "net/stream/handshake.hpp"

namespace isthmus::net {
namespace {

std::vector<std::byte> frame_of(core::FrameHeader header, std::span<const std::byte> body) {
  header.body_size = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(core::kHeaderSize + body.size());
  core::encode_header(header, bytes.data());
  std::memcpy(bytes.data() + core::kHeaderSize, body.data(), body.size());
  return bytes;
}

core::FrameHeader header_of(core::FrameKind kind, core::NodeId self, core::NodeId peer) {
  core::FrameHeader header;
  header.kind = kind;
  header.source = self;
  header.destination = peer;
  return header;
}

std::vector<std::byte> refusal(core::NodeId self, core::NodeId peer, std::string_view sentence) {
  return frame_of(header_of(core::FrameKind::Refuse, self, peer),
                  std::as_bytes(std::span(sentence.substr(0, 1000))));
}

std::vector<std::byte> last_hello(core::NodeId self, core::NodeId peer, std::uint64_t session) {
  core::Hello hello;
  hello.session = session;
  hello.window = core::kHeaderSize + core::kMaxBody;
  hello.software = software();
  return frame_of(header_of(core::FrameKind::Hello, self, peer), core::encode_hello(hello));
}

// Writes as far as the stream takes it at once, and closes.
void last_word(const std::shared_ptr<Stream>& stream, std::span<std::byte> bytes) {
  const iovec all{bytes.data(), bytes.size()};
  const auto moved = stream->write({&all, 1});
  if (moved.error || moved.wait == Stream::Wait::None) {
    stream->close();
    return;
  }
  stream->wait(moved.wait, [stream](const std::error_code&) {
    (void)stream->write({});  // what TLS still holds
    stream->close();
  });
}

}  // namespace

void refuse(const std::shared_ptr<Stream>& stream, core::NodeId self, core::NodeId peer,
            const std::string& sentence) {
  auto bytes = refusal(self, peer, sentence);
  last_word(stream, bytes);
}

void tell_anew(const std::shared_ptr<Stream>& stream, core::NodeId self, core::NodeId peer) {
  auto bytes = last_hello(self, peer, random_session());
  last_word(stream, bytes);
}

// In one write, so that the other end has it all when it has the Hello.
void tell_gone_on(const std::shared_ptr<Stream>& stream, const core::Conduit& conduit) {
  const core::ConduitConfig& known = conduit.config();
  auto bytes = last_hello(known.self, known.peer, known.session);
  const auto end = refusal(known.self, known.peer, kGoneOn);
  bytes.insert(bytes.end(), end.begin(), end.end());
  const iovec all{bytes.data(), bytes.size()};
  (void)stream->write({&all, 1});
}

}  // namespace isthmus::net
