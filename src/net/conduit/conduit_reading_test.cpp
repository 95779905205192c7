// A conduit reads what its stream holds, also if the socket has no more.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <memory>
#include <vector>

#include "core/conduit/conduit.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/stream/tls.hpp"
#include "net/stream/tls_stream.hpp"

namespace isthmus::net {
namespace {

constexpr std::size_t kBody = 8192;

// Its frames land at one place.
class LandingUser final : public ConduitUser {
 public:
  bool frame(const core::InFrame& /*frame*/, std::uint16_t /*hops*/) override {
    ++frames;
    return true;
  }
  core::Landing place(const core::InFrame& beginning) override {
    const std::size_t size = beginning.body.size() + beginning.placed;
    return {.payload = std::span(place_).first(size - 16), .behind = {}};
  }
  void connected() override {}
  void lost(const Loss& loss) override { ADD_FAILURE() << loss.reason; }
  void ended() override {}
  void dead(const std::string& reason) override { ADD_FAILURE() << reason; }

  int frames = 0;

 private:
  std::vector<std::byte> place_ = std::vector<std::byte>(kBody);
};

core::ConduitConfig config_of(core::NodeId self) {
  core::ConduitConfig config;
  config.self = self;
  config.peer = 1 - self;
  config.session = self + 1;
  config.software = "a test";
  return config;
}

// The other end of the driver's stream is written by hand.
class ConduitReading : public testing::Test {
 protected:
  ConduitReading() {
    int both[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    std::shared_ptr<TlsStream> ends[2];
    for (const bool server : {false, true}) {
      asio::local::stream_protocol::socket socket(io_, asio::local::stream_protocol(),
                                                  both[server]);
      ends[server] = std::make_shared<TlsStream>(Socket(std::move(socket)),
                                                 make_tls(server, {"job", "secret"}), server, "a");
      asio::co_spawn(
          io_, [end = ends[server]]() -> asio::awaitable<void> { (void)co_await end->handshake(); },
          asio::detached);
    }
    io_.run();
    io_.restart();
    far_ = ends[0];
    driver_->attach(ends[1]);
    id_ = other_.stream_up(now());
  }
  ~ConduitReading() override { driver_->close(); }

  /// Both ends have the other's Hello.
  void greet() {
    write([] {});
    io_.poll();
    std::vector<std::byte> bytes(std::size_t{64} * 1024);
    const iovec part{bytes.data(), bytes.size()};
    const auto moved = far_->read({&part, 1});
    const core::Conduit::Sink none = [](const auto&, auto) { return true; };
    other_.input(id_, std::span(bytes).first(moved.bytes), now(), none);
    ASSERT_TRUE(other_.connected() && driver_->conduit().connected());
  }
  void submit(int frames) {
    const std::vector<std::byte> body(kBody);
    for (int i = 0; i < frames; ++i) {
      core::OutFrame frame;
      frame.kind = core::FrameKind::Piece;
      frame.source = 1;
      frame.destination = 0;
      frame.payload = body;
      other_.submit(frame);
    }
  }
  /// Writes all, `most` bytes at a time; `run` is called between, and when the socket is full.
  template <class F>
  void write(F run, std::size_t most = std::size_t{1} << 20) {
    std::vector<core::PacketPtr> packets;
    other_.output(id_, now(), std::size_t{4} << 20, packets);
    for (const auto& packet : packets) {
      std::span<const std::byte> bytes = packet->bytes();
      bool holds = false;
      while (!bytes.empty() || holds) {
        const iovec part{const_cast<std::byte*>(bytes.data()), std::min(bytes.size(), most)};
        const auto moved = far_->write({&part, bytes.empty() ? 0U : 1U});
        ASSERT_FALSE(moved.error) << moved.error.message();
        bytes = bytes.subspan(moved.bytes);
        holds = moved.wait == Stream::Wait::Writable;
        if (holds || !bytes.empty()) run();
      }
    }
  }

  asio::io_context io_;
  LandingUser user_;
  std::shared_ptr<ConduitDriver> driver_ =
      std::make_shared<ConduitDriver>(io_, config_of(0), ConduitDriver::For::Program, user_);
  core::Conduit other_{config_of(1), now()};
  core::StreamId id_ = 0;
  std::shared_ptr<TlsStream> far_;
};

TEST_F(ConduitReading, AStreamThatHoldsBytesIsReadAgainAfterALook) {
  constexpr int kMany = 100, kFew = 12;
  greet();
  submit(kMany);  // from here on the stream takes all from its socket at once
  write([&] { io_.poll(); });
  while (user_.frames < kMany && io_.run_one() > 0) {
  }
  ASSERT_EQ(user_.frames, kMany);
  submit(1);  // lands, so the driver expects another to land
  write([&] { io_.poll(); }, 2048);
  io_.poll();
  ASSERT_EQ(user_.frames, kMany + 1);
  submit(kFew);
  write([] { FAIL() << "the socket is full"; });
  driver_->own();  // looks once
  EXPECT_LT(user_.frames, kMany + 1 + kFew) << "a look has read all, and the test shows nothing";
  io_.poll();
  EXPECT_EQ(user_.frames, kMany + 1 + kFew);
}

}  // namespace
}  // namespace isthmus::net
