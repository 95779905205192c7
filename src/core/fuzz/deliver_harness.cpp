#include "core/fuzz/deliver_harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/wire/message_body.hpp"

namespace isthmus::core {

namespace {

constexpr Limits kLimits{.window = 2048, .piece = 128, .read_at_once = 512};
constexpr NodeId kSelf = 9;
constexpr NodeId kPeers = 2;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Every small number is one byte, so that mutations of an input often stay meaningful; when the
// input has run out, zero.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::size_t word() {
    const std::size_t low = byte();
    return low | static_cast<std::size_t>(byte()) << 8;
  }
  // -1 for 3, so that wildcards are common.
  int field() {
    const int value = byte() % 4;
    return value == 3 ? -1 : value;
  }
  std::vector<std::byte> raw(std::size_t size) {
    std::vector<std::byte> data(size);
    for (std::byte& b : data) b = std::byte{byte()};
    return data;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct Send : SendOp {
  std::vector<std::byte> bytes;
};
struct Recv : RecvOp {
  std::vector<std::byte> bytes;
};
struct Answering final : Service {
  explicit Answering(Engine& engine_) : engine(engine_) { engine.serve(kServiceContext, *this); }
  bool take(NodeId from, const Envelope& envelope, std::span<const std::byte> bytes) override {
    engine.post(from, envelope, {bytes.begin(), bytes.end()});
    refused = refused || envelope.tag == 2;
    return envelope.tag != 2;
  }
  Engine& engine;
  bool refused = false;
};

class Harness {
 public:
  // One peer lends, and its memory can be read at even addresses; the other does neither.
  explicit Harness(std::span<const std::uint8_t> bytes) : input_(bytes) {
    engine_.read_from(1, [](std::uint64_t address, std::span<std::byte> to) {
      std::fill(to.begin(), to.end(), std::byte{0x5A});
      return address % 2 == 0;
    });
    engine_.lend_to(1, kLimits.window);
  }

  std::size_t run() {
    // An engine whose peer breaks the protocol is done for; so is the input.
    while (!input_.empty() && step()) {
      for (NodeId peer = 0; peer < kPeers; ++peer) {
        const auto figures = engine_.figures(peer);
        require(figures.buffered <= kLimits.window, "more is buffered than the window allows");
        require(figures.window_left <= kLimits.window, "the window has grown");
      }
    }
    return accepted_;
  }

 private:
  template <class Body>
  bool deliver(FrameKind kind, const Body& body, std::size_t payload) {
    BodyHead head;
    const std::size_t size = encode(body, head);
    std::vector<std::byte> bytes(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
    bytes.resize(size + payload, std::byte{0x5A});
    return deliver(kind, bytes);
  }
  bool deliver(FrameKind kind, std::span<const std::byte> body) {
    InFrame frame{
        .kind = kind, .source = input_.byte() % kPeers, .destination = kSelf, .body = body};
    frame.body = body.first(std::min(body.size(), PieceBody::kSize));
    frame.placed = body.size() - frame.body.size();
    const Landing landing = engine_.place(frame);
    const auto place = landing.payload;
    std::ranges::fill(landing.behind, std::byte{0xA5});
    if (place.empty()) {
      frame.body = body;
      frame.placed = 0;
    } else {
      require(place.size() == frame.placed, "a place of another size");
      // A receive may be posted when half has come.
      const auto payload = body.last(frame.placed);
      const std::size_t half = payload.size() / 2;
      std::ranges::copy(payload.first(half), place.begin());
      if (input_.byte() % 2 == 0) post();
      require(engine_.place(frame).payload.data() == place.data(), "a place that moves");
      std::ranges::copy(payload.subspan(half), place.subspan(half).begin());
    }
    const bool ok = engine_.deliver(frame);
    require(ok || place.empty() || service_.refused, "what was placed is refused");
    accepted_ += ok;
    return ok;
  }

  bool step() {
    switch (input_.byte() % 12) {
      case 0: {
        EnvelopeBody body;
        body.number = input_.byte();
        body.envelope.context = input_.byte() % 2;
        body.envelope.source = input_.byte() % 3;
        body.envelope.tag = input_.byte() % 3;
        body.envelope.size = input_.word();
        body.ahead = input_.word();
        const std::uint8_t flags = input_.byte();
        body.waits = (flags & 1) != 0;
        body.charged = (flags & 2) != 0;
        if ((flags & 4) != 0) body.envelope.size |= std::uint64_t{1} << 60;
        if ((flags & 8) != 0) body.ahead = body.envelope.size;
        if ((flags & 16) != 0) body.envelope.context |= kServiceContext;
        if ((flags & 32) != 0) body.lent = input_.byte();
        return deliver(FrameKind::Envelope, body, input_.byte());
      }
      case 1: {
        const std::uint64_t number = input_.byte();
        const std::uint64_t offset = input_.word();
        return deliver(FrameKind::Piece, PieceBody{number, offset}, input_.byte());
      }
      case 2: {
        const std::uint64_t number = input_.byte();
        const auto kind = number < 128 ? FrameKind::Grant : FrameKind::Taken;
        return deliver(kind, GrantBody{number % 128, input_.byte()}, 0);
      }
      case 3:
        return deliver(FrameKind::Credit, CreditBody{input_.byte()}, 0);
      case 4: {
        // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): a peer may send any
        const auto kind = static_cast<FrameKind>(input_.byte());
        return deliver(kind, input_.raw(input_.byte()));
      }
      case 5:
        post();
        return true;
      case 6:
        send();
        return true;
      case 7:
        pull();
        return true;
      case 8:
        extract();
        return true;
      case 10: {
        SpoilBody body{.piece = {.number = input_.byte(), .offset = input_.word()}};
        body.bytes = input_.word();
        return deliver(FrameKind::Spoil, body, input_.byte());
      }
      case 11:
        if (!sends_.empty()) engine_.spoil(*sends_[input_.byte() % sends_.size()], "lost");
        return true;
      default:
        if (!recvs_.empty()) engine_.cancel(*recvs_[input_.byte() % recvs_.size()]);
        return true;
    }
  }

  Recv& new_recv() {
    recvs_.push_back(std::make_unique<Recv>());
    Recv& op = *recvs_.back();
    op.bytes.resize(input_.word() % 4096);
    op.buffer = op.bytes.data();
    op.capacity = op.bytes.size();
    return op;
  }

  void post() {
    Recv& op = new_recv();
    op.context = input_.byte() % 2;
    op.source = input_.field();
    op.tag = input_.field();
    engine_.recv(op);
  }

  void send() {
    sends_.push_back(std::make_unique<Send>());
    Send& op = *sends_.back();
    op.peer = input_.byte() % kPeers;
    op.bytes.resize(input_.word() % 8192);
    op.data = op.bytes;
    const std::uint8_t flags = input_.byte();
    op.synchronous = flags % 2 != 0;
    if (flags >= 128) op.ready = op.bytes.size() / 2;
    engine_.send(op);
  }

  // Begins to read a piece of a lent message, or ends that.
  void read_piece() {
    if (!reading_) {
      reading_ = engine_.next_reading();
      return;
    }
    const Engine::Reading piece = *std::exchange(reading_, std::nullopt);
    engine_.end_reading(piece, piece.read());
  }

  void pull() {
    read_piece();
    OutFrame out;
    for (std::size_t n = input_.byte() % 16; n > 0 && engine_.next_frame(out); --n) {
      require(out.head_size + out.payload.size() <= kMaxBody, "a frame is too large");
      for (const std::byte b : out.payload) sum_ += static_cast<unsigned>(b);
    }
  }

  void extract() {
    const std::uint8_t what = input_.byte();
    if (what % 2 == 0) {
      if (auto message = engine_.extract(what / 2 % 2, input_.field(), input_.field())) {
        extracted_.push_back(std::move(message));
      }
    } else if (!extracted_.empty()) {
      const auto message = std::move(extracted_.front());
      extracted_.pop_front();
      if (what % 4 == 1) engine_.recv(message, new_recv());
    }
  }

  Input input_;
  std::size_t accepted_ = 0;
  unsigned sum_ = 0;  // reads what is sent, for the sanitizers
  std::vector<std::unique_ptr<Send>> sends_;
  std::vector<std::unique_ptr<Recv>> recvs_;
  Engine engine_{kSelf, kLimits};
  std::optional<Engine::Reading> reading_;
  Answering service_{engine_};  // of one context; the other waits for its own
  std::deque<std::shared_ptr<Extracted>> extracted_;
};

}  // namespace

std::size_t run_deliver_input(std::span<const std::uint8_t> input) { return Harness(input).run(); }

}  // namespace isthmus::core
