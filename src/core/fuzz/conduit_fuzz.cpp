// A peer may send any bytes: a conduit and the engine behind it must survive. They may not crash,
// read beyond the end, or exceed the limits of memory. The first byte gives the size of the reads;
// a good Hello comes before when its lowest bit is set, so that later states are reached quickly. A
// receive is posted, and bytes that the engine has a place for are put there.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/conduit/conduit.hpp"
#include "core/engine/engine.hpp"
#include "core/wire/message_body.hpp"

using namespace isthmus::core;

namespace {

// Compressed frames hold others as they are.
class AsTheyAre final : public Compressor {
 public:
  std::span<const std::byte> compress(std::span<const std::byte>) override { return {}; }
  std::span<const std::byte> decompress(std::span<const std::byte> body) override { return body; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
  ConduitConfig config;
  config.self = 0;
  config.peer = kFirstGateway;
  config.session = 1;
  config.compressor = std::make_shared<AsTheyAre>();
  Conduit conduit(config, Time::zero());
  Engine engine(0);
  std::vector<std::byte> memory(3000);
  RecvOp op;
  op.buffer = memory.data();
  op.capacity = memory.size();
  engine.recv(op);
  std::size_t landing = 0;  // bytes of the first frame in `unread` that must be placed
  const StreamId stream = conduit.stream_up(Time::zero());
  bool broken = false;
  const auto sink = [&](const InFrame& frame, std::uint16_t) {
    if (is_routed(frame.kind) && !broken) broken = !engine.deliver(frame);
    return frame.body.size() % 2 == 0;
  };

  std::vector<std::byte> unread;
  if ((data[0] & 1) != 0) {
    Hello hello;
    hello.session = 2;
    hello.window = config.window;
    const auto body = encode_hello(hello);
    FrameHeader header;
    header.kind = FrameKind::Hello;
    header.source = config.peer;
    header.destination = config.self;
    header.body_size = static_cast<std::uint32_t>(body.size());
    unread.resize(kHeaderSize);
    encode_header(header, unread.data());
    unread.insert(unread.end(), body.begin(), body.end());
  }
  const std::size_t chunk = 1 + (data[0] >> 1) * 8U;
  Time now{};
  for (std::size_t at = 1; at < size; at += chunk) {
    const auto part = all.subspan(at, std::min(chunk, size - at));
    unread.insert(unread.end(), part.begin(), part.end());
    now += std::chrono::milliseconds(1);
    std::size_t placed = 0;
    if (landing > 0) {
      const auto begin = unread.begin() + kHeaderSize + PieceBody::kSize;
      if (unread.end() - begin < static_cast<std::ptrdiff_t>(landing)) continue;
      const std::span head(unread.begin(), begin);
      const auto frame = conduit.arriving(stream, head);
      const auto place = frame ? engine.place(*frame).payload : std::span<std::byte>{};
      if (!place.empty() && place.size() != landing) std::abort();
      std::copy_n(begin, place.size(), place.begin());
      placed = std::exchange(landing, 0);
      unread.erase(begin, begin + static_cast<std::ptrdiff_t>(placed));
    }
    const auto result = conduit.input(stream, unread, now, sink, placed);
    if (result.used > unread.size()) std::abort();
    if ((result.outcome == Conduit::Outcome::Good) != result.reason.empty()) std::abort();
    unread.erase(unread.begin(), unread.begin() + static_cast<std::ptrdiff_t>(result.used));
    // The incomplete rest is never more than one frame.
    if (conduit.dead().empty() && unread.size() >= kHeaderSize + kMaxBody + chunk) std::abort();
    if (const auto frame = conduit.arriving(stream, unread))
      landing = engine.place(*frame).payload.size();
    std::vector<PacketPtr> packets;
    conduit.output(stream, now, 1U << 20, packets);
    (void)conduit.tick(now);
  }
  return 0;
}
