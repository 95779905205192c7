// Links that are cut, refused or slow; over real sockets.
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include "daemon/gateway/gateway_proxy.hpp"
#include "daemon/gateway/gateway_testbed.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/door/connect.hpp"
#include "net/host/address.hpp"
#include "net/host/software.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;
using testing::HasSubstr;

class Cuts : public testing::TestWithParam<int> {};

TEST_P(Cuts, NothingIsLostWhenALinkIsCutAgainAndAgain) {
  Testbed bed({.sizes = {1, 1}, .streams = GetParam()});
  const auto proxy = Proxy::make(bed);
  bed.link_to(proxy->address());
  bed.start();
  std::atomic<bool> over{false};
  std::thread cutter([&] {
    while (!over) {
      std::this_thread::sleep_for(50ms);
      bed.on_io([&] { proxy->cut(); });
    }
  });
  for (int i = 0; bed.on_io([&] { return proxy->connections(); }) < 5 * GetParam() || i < 20; ++i) {
    bed.exchange(0, 1, 300'000);
    bed.exchange(1, 0, 3'000);
  }
  over = true;
  cutter.join();
  bed.leave_well();
  bed.on_io([&] { proxy->close(); });
}
INSTANTIATE_TEST_SUITE_P(Streams, Cuts, testing::Values(1, 3));

TEST(Link, OneThatStaysCutEndsTheJob) {
  Testbed bed({.sizes = {1, 1}, .patience = 500ms});
  const auto proxy = Proxy::make(bed);
  bed.link_to(proxy->address());
  bed.start();
  bed.on_io([&] { proxy->close(); });
  EXPECT_THAT(bed.fault(0), HasSubstr("(" + proxy->address() + ") is lost"));
  EXPECT_THAT(bed.fault(0), HasSubstr("nothing listens there"));
  EXPECT_THAT(bed.fault(1), HasSubstr("link"));
}

// The user hears of it, and when it is over.
TEST(Link, OneThatIsSilentForAWhileIsWaitedFor) {
  Testbed bed({.sizes = {1, 1}, .patience = 20min, .failover = 100ms});
  const auto proxy = Proxy::make(bed);
  bed.link_to(proxy->address());
  bed.link_patience(4s);  // for both ends: the one that connects tells the other
  bed.start();
  bed.exchange(0, 1, 100'000);
  bed.on_io([&] { proxy->hold(true); });
  for (const std::size_t end : {0, 1}) {
    const LinkSilence silence = bed.silence(end);
    EXPECT_EQ(silence.from, Testbed::node(end));
    EXPECT_EQ(silence.to, Testbed::node(1 - end));
    EXPECT_GE(silence.silence, 1s);
    EXPECT_EQ(silence.patience, 4s);
  }
  bed.on_io([&] { proxy->hold(false); });
  for (const std::size_t end : {0, 1}) EXPECT_GE(bed.silence_over(end).silence, 1s);
  bed.exchange(0, 1, 100'000);
  bed.leave_well();
  bed.on_io([&] { proxy->close(); });
}

// A node made by hand, on the testbed's thread.
class Node final : public net::ConduitUser {
 public:
  Node(Testbed& bed, core::NodeId self, core::NodeId peer) : bed_(bed) {
    config_.self = self;
    config_.peer = peer;
    config_.session = net::random_session();
    config_.software = net::software();
    config_.patience = core::Time::zero();
  }
  ~Node() {
    bed_.on_io([&] {
      if (driver) driver->close();
    });
  }

  // Whether frames are consumed as they arrive.
  std::atomic<bool> consume{true};
  std::atomic<std::size_t> arrived{0};  // bytes of bodies
  Awaited<std::string> is_dead;
  Awaited<bool> is_connected;
  std::shared_ptr<net::ConduitDriver> driver;

  std::string connect(const std::string& address, bool encrypt, const std::string& secret) {
    Awaited<std::string> result;
    bed_.on_io([&] {
      asio::co_spawn(bed_.io(), open(this, address, encrypt, secret, &result), asio::detached);
    });
    return result.get();
  }
  void consume_all() {
    bed_.on_io([&] {
      consume = true;
      for (const std::size_t body : kept_) driver->conduit().consume(body);
      kept_.clear();
      driver->flush();
    });
  }
  // Sends until the buffers are full; returns the bytes taken.
  std::size_t send_all_that_fits(core::NodeId to, std::size_t limit) {
    return bed_.on_io([&] {
      const std::vector<std::byte> payload(60'000);
      std::size_t bytes = 0;
      while (bytes < limit && driver->conduit().can_accept()) {
        core::OutFrame frame;
        frame.kind = core::FrameKind::Piece;
        frame.source = config_.self;
        frame.destination = to;
        frame.payload = payload;
        driver->conduit().submit(frame);
        bytes += payload.size();
      }
      driver->flush();
      return bytes;
    });
  }

 private:
  static asio::awaitable<void> open(Node* self, std::string address, bool encrypt,
                                    std::string secret, Awaited<std::string>* result) {
    std::string failure;
    try {
      const std::vector<std::string> addresses{address};
      const net::Credentials credentials{"job", secret};
      net::ConnectOptions options;
      options.encrypt_loopback = encrypt;
      auto stream = co_await net::connect(addresses, credentials, options);
      self->attach(std::move(stream));
    } catch (const std::exception& e) {
      failure = e.what();
    }
    result->set(failure);
  }
  void attach(std::shared_ptr<net::Stream> stream) {
    driver = std::make_shared<net::ConduitDriver>(bed_.io(), config_,
                                                  net::ConduitDriver::For::Report, *this);
    driver->attach(std::move(stream));
  }
  bool frame(const core::InFrame& frame, std::uint16_t /*hops*/) override {
    if (!core::is_routed(frame.kind)) return true;
    arrived += frame.body.size();
    if (consume) return true;
    kept_.push_back(frame.body.size());
    return false;
  }
  void connected() override { is_connected.set(true); }
  void lost(const net::Loss& /*loss*/) override {}
  void ended() override {}
  void dead(const std::string& reason) override { is_dead.set(reason); }

  Testbed& bed_;
  core::ConduitConfig config_;
  std::vector<std::size_t> kept_;
};

// A receiver that takes nothing stops its sender, after a bounded number of bytes; everything
// flows again once it takes.
TEST(Link, AStuckReceiverHoldsBackItsSenderInBoundedMemory) {
  Testbed bed({.sizes = {2, 2}});
  ASSERT_EQ(bed.link(), "");
  std::vector<std::unique_ptr<Node>> nodes;
  for (core::NodeId r = 0; r < 4; ++r) {
    nodes.push_back(std::make_unique<Node>(bed, r, Testbed::node(r / 2)));
    ASSERT_EQ(nodes.back()->connect(bed.addresses(r / 2)[1], false, "secret"), "");
    ASSERT_TRUE(nodes.back()->is_connected.get());
  }
  nodes[2]->consume = false;
  std::size_t sent = 0;
  int idle = 0;
  while (idle < 50 || sent <= 4'000'000) {
    const std::size_t n = nodes[0]->send_all_that_fits(2, 100'000'000);
    sent += n;
    idle = n == 0 ? idle + 1 : 0;
    std::this_thread::sleep_for(10ms);
  }
  // Three conduits, each with a buffer and a window of 4 MiB.
  EXPECT_LT(sent, 30'000'000U);
  EXPECT_GT(sent, 4'000'000U);

  // The link's window is used up, so that other traffic over it waits too, but is not lost.
  const std::size_t other = nodes[1]->send_all_that_fits(3, 600'000);
  EXPECT_GT(other, 0U);

  nodes[2]->consume_all();
  for (int i = 0; i < 3000 && nodes[2]->arrived < sent; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(nodes[2]->arrived, sent);
  for (int i = 0; i < 3000 && nodes[3]->arrived < other; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(nodes[3]->arrived, other);
}

TEST(Link, TlsProvesTheSecretToBothSides) {
  Testbed bed({.sizes = {1}});
  ASSERT_EQ(bed.link(), "");
  Node good(bed, 0, Testbed::node(0));
  EXPECT_EQ(good.connect(bed.addresses(0)[0], true, "secret"), "");
  EXPECT_TRUE(good.is_connected.get());
  Node bad(bed, 0, Testbed::node(0));
  EXPECT_THAT(bad.connect(bed.addresses(0)[0], true, "guess"),
              HasSubstr("does not know the secret of job \"job\""));
  EXPECT_THAT(bed.rejected(0).get(), HasSubstr("does not know the secret of job \"job\""));
}

TEST(Link, ARankMayNotSpeakForAnother) {
  Testbed bed({.sizes = {2}});
  ASSERT_EQ(bed.link(), "");
  Node a(bed, 0, Testbed::node(0)), b(bed, 1, Testbed::node(0));
  for (Node* node : {&a, &b}) {
    ASSERT_EQ(node->connect(bed.addresses(0)[1], false, "secret"), "");
    ASSERT_TRUE(node->is_connected.get());
  }
  bed.on_io([&] {
    core::OutFrame frame;
    frame.kind = core::FrameKind::Piece;
    frame.source = 1;
    frame.destination = 1;
    a.driver->conduit().submit(frame);
    a.driver->flush();
  });
  EXPECT_THAT(bed.gateway_fault(0), HasSubstr("sent in the name of rank 1"));
}

asio::awaitable<void> say(asio::io_context& io, std::string address, std::vector<std::byte> bytes,
                          Awaited<std::string>* result) {
  std::string failure;
  try {
    const std::vector<std::string> addresses{address};
    const net::Credentials credentials{"job", "secret"};
    const net::ConnectOptions options;
    auto stream = co_await net::connect(addresses, credentials, options);
    const iovec out{bytes.data(), bytes.size()};
    if (stream->write({&out, 1}).bytes != bytes.size()) throw std::runtime_error("not written");
    std::array<std::byte, 2000> in{};
    const iovec into{in.data(), in.size()};
    net::Stream::Moved moved = stream->read({&into, 1});
    while (moved.bytes == 0 && !moved.error) {
      co_await stream->socket().async_wait(net::Socket::wait_read, asio::use_awaitable);
      moved = stream->read({&into, 1});
    }
    result->set(moved.error ? moved.error.message()
                            : std::string(reinterpret_cast<const char*>(in.data()), moved.bytes));
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (!failure.empty()) result->set(failure);
  (void)io;
}

TEST(Link, AnotherReleaseIsRefusedWithBothVersions) {
  Testbed bed({.sizes = {1}});
  ASSERT_EQ(bed.link(), "");
  core::Hello hello;
  hello.version = core::kProtocolVersion + 1;
  hello.session = 1;
  hello.software = "77.7";
  const auto body = core::encode_hello(hello);
  core::FrameHeader header;
  header.kind = core::FrameKind::Hello;
  header.source = 0;
  header.destination = Testbed::node(0);
  header.body_size = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(core::kHeaderSize);
  core::encode_header(header, bytes.data());
  bytes.insert(bytes.end(), body.begin(), body.end());
  Awaited<std::string> answer;
  bed.on_io([&] {
    asio::co_spawn(bed.io(), say(bed.io(), bed.addresses(0)[1], bytes, &answer), asio::detached);
  });
  for (const auto& text : {answer.get(), bed.rejected(0).get()}) {
    EXPECT_THAT(text, HasSubstr("version " + std::to_string(core::kProtocolVersion) +
                                " of the protocol (Isthmus " + net::software() + ")"));
    EXPECT_THAT(
        text, HasSubstr("the other version " + std::to_string(hello.version) + " (Isthmus 77.7)"));
  }
}

}  // namespace
}  // namespace isthmus::daemon
