// Pieces of one message come by two gateways, each piece in part.
#include <gtest/gtest.h>

#include <asio/io_context.hpp>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "core/conduit/conduit.hpp"
#include "core/world/limits.hpp"
#include "net/door/listener.hpp"
#include "net/endpoint/endpoint.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::pair<Bytes, Bytes> parts(const Bytes& bytes, std::ptrdiff_t first) {
  return {{bytes.begin(), bytes.begin() + first}, {bytes.begin() + first, bytes.end()}};
}

// The other end of the process's conduit to a gateway. Its stream is written by hand.
class Door final : public ListenerUser {
 public:
  Door(asio::io_context& io, core::NodeId self) : self_(self) {
    ListenerConfig config;
    config.self = self;
    config.software = "door";
    config.credentials = {"job", "secret"};
    listener_ = std::make_unique<Listener>(io, std::move(config), *this);
    address = listener_->listen("tcp:127.0.0.1:0");
  }

  /// Takes in the first frames of the process, and answers.
  bool open() {
    if (!stream_ || !conduit_->connected()) return false;
    core::OutFrame ready;
    ready.kind = core::FrameKind::Ready;
    ready.source = self_;
    ready.destination = 0;
    write(frame(ready));
    return true;
  }
  /// A frame, and what the conduit has to say before.
  Bytes frame(const core::OutFrame& out) {
    conduit_->submit(out);
    Bytes bytes;
    std::vector<core::PacketPtr> packets;
    conduit_->output(id_, now(), std::size_t{1} << 20, packets);
    for (const auto& packet : packets) {
      bytes.insert(bytes.end(), packet->bytes().begin(), packet->bytes().end());
    }
    return bytes;
  }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
      const auto moved = stream_->write({&part, 1});
      ASSERT_FALSE(moved.error) << moved.error.message();
      bytes = bytes.subspan(moved.bytes);
    }
  }

  std::string address;

 private:
  void accepted(Listener::Newcomer newcomer) override {
    stream_ = std::move(newcomer.stream);
    core::ConduitConfig config;
    config.self = self_;
    config.peer = newcomer.node;
    config.session = self_;
    config.software = "door";
    conduit_ = std::make_unique<core::Conduit>(config, now());
    id_ = conduit_->stream_up(now());
    conduit_->input(
        id_, newcomer.read, now(), [](const auto&, auto) { return true; }, 0);
    std::vector<core::PacketPtr> packets;
    conduit_->output(id_, now(), std::size_t{1} << 20, packets);
    for (const auto& packet : packets) write(packet->bytes());
  }
  static core::Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

  const core::NodeId self_;
  std::unique_ptr<Listener> listener_;
  std::shared_ptr<Stream> stream_;
  std::unique_ptr<core::Conduit> conduit_;
  core::StreamId id_ = 0;
};

struct Arrival : core::RecvOp {
  Arrival(std::size_t size, int tag_) : bytes(size) {
    context = 42;
    source = 1;
    tag = tag_;
    from = 1;
    buffer = bytes.data();
    capacity = size;
  }
  Bytes bytes;
};

// This is process 1; process 0 is an endpoint.
class EndpointLanding : public testing::Test {
 protected:
  EndpointLanding() {
    core::World world;
    for (int i = 0; i < 2; ++i) world.clusters.push_back({std::string(1, "ab"[i]), i, 1});
    for (const Door* const door : {&first_, &second_}) {
      core::Gateway gateway;
      gateway.node = core::kFirstGateway + (door == &second_);
      gateway.clusters = {0, 1};
      gateway.addresses = {door->address};
      world.gateways.push_back(gateway);
    }
    auto join = std::async(std::launch::async, [&] {
      EndpointConfig config;
      config.world = world;
      config.node = 0;
      config.job = "job";
      config.secret = "secret";
      return Endpoint::join(std::move(config), [](const std::string&, int) {});
    });
    for (Door* const door : {&first_, &second_}) {
      while (!door->open() && join.wait_for(0s) != std::future_status::ready) {
        io_.run_one_for(10ms);
      }
    }
    endpoint_ = join.get();
    engine_.set_fine_head(core::kCoarse);
  }

  /// Its payload is the memory of a send.
  core::OutFrame next_frame() {
    core::OutFrame out;
    EXPECT_TRUE(engine_.next_frame(out));
    engine_.payload_copied();
    return out;
  }
  void send(core::SendOp& op, int tag, std::span<const std::byte> data) {
    op.peer = 0;
    op.envelope = {42, 1, tag, data.size()};
    op.data = data;
    engine_.send(op);
  }
  bool wait(const core::Op& op) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!op.done() && std::chrono::steady_clock::now() < limit) {
      endpoint_->wait_event(endpoint_->events(), 10ms);
    }
    return op.done();
  }
  /// Writes a small message and what follows in one go. Returns when it has been read.
  void write_behind_message(Door& door, const Bytes& more) {
    core::SendOp op;
    const Bytes data(1);
    Arrival recv(1, 2);
    endpoint_->recv(recv);
    send(op, 2, data);
    door.write(joined(door.frame(next_frame()), more));
    ASSERT_TRUE(wait(recv));
  }

  asio::io_context io_;
  Door first_{io_, core::kFirstGateway}, second_{io_, core::kFirstGateway + 1};
  core::Engine engine_{1, core::limits_for(2)};
  std::unique_ptr<Endpoint> endpoint_;
};

TEST_F(EndpointLanding, APieceThatLandsByAnotherGatewayStays) {
  constexpr std::size_t kPiece = std::size_t{64} * 1024;
  Bytes data(4 * kPiece);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::byte(i / kPiece * 50 + i % 37);
  Arrival recv(data.size(), 1);
  endpoint_->recv(recv);
  core::SendOp op;
  send(op, 1, data);
  const Bytes envelope = first_.frame(next_frame());
  std::vector<core::OutFrame> pieces;
  while (engine_.has_output()) pieces.push_back(next_frame());
  ASSERT_GE(pieces.size(), 4U);
  write_behind_message(first_, envelope);

  const Bytes one = first_.frame(pieces[1]), zero = second_.frame(pieces[0]);
  const Bytes two = second_.frame(pieces[2]);
  const auto [one_begins, one_ends] = parts(one, 30'000);
  const auto [zero_begins, zero_ends] = parts(zero, 50'000);
  const auto [two_begins, two_ends] = parts(two, 40'000);
  write_behind_message(first_, one_begins);
  write_behind_message(second_, zero_begins);
  second_.write(joined(zero_ends, two_begins));
  second_.write(two_ends);
  write_behind_message(second_, {});
  first_.write(one_ends);
  for (std::size_t i = 3; i < pieces.size(); ++i) first_.write(first_.frame(pieces[i]));
  ASSERT_TRUE(wait(recv));
  EXPECT_TRUE(recv.bytes == data);
}

}  // namespace
}  // namespace isthmus::net
