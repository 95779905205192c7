#include "net/endpoint/endpoint_gate.hpp"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/use_awaitable.hpp>
#include <bit>
#include <utility>

#include "core/world/limits.hpp"
#include "net/door/connect.hpp"
#include "net/endpoint/endpoint_io.hpp"
#include "net/host/software.hpp"
#include "net/shm/ring_stream.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/last_words.hpp"

namespace isthmus::net {
namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::milliseconds kRedial{200};
// The interval of attempts to reach a gateway that was given up. It is shorter than
// kAwaitReconnect.
constexpr std::chrono::milliseconds kLook{1000};
// The bytes of all rings of a gateway. This is enough for 32 processes with rings of the largest
// size. Larger rings are quicker for streams. Messages of 1 MiB went through two gateways at 1.08
// GB/s with rings of 64 KiB, 1.29 with 256 KiB, and 1.61 with 1 MiB. Sockets had 1.17 (two cores,
// 2026-11).
constexpr std::size_t kGatewaysRings = std::size_t{64} << 20;

}  // namespace

// The size of each of the two rings between this process and a gateway on its host.
std::size_t Endpoint::Gate::ring_bytes() const {
  std::size_t most = 1;  // processes of a gateway
  for (const Gate& gate : io_.gates) {
    std::size_t served = 0;
    for (const std::size_t cluster : gate.gateway.clusters) {
      if (cluster >= io_.config.world.clusters.size()) continue;
      served += static_cast<std::size_t>(io_.config.world.clusters[cluster].size);
    }
    most = std::max(most, served);
  }
  return std::min(RingStream::kMost, std::bit_floor(kGatewaysRings / (2 * most)));
}

asio::awaitable<std::shared_ptr<Stream>> Endpoint::Gate::dial(int segment) const {
  const EndpointConfig& config = io_.config;
  const core::Cluster& cluster = config.world.clusters[config.world.cluster_of(config.node)];
  const Credentials credentials{config.job, config.secret};
  ConnectOptions options;
  options.net = cluster.net;
  options.encrypt_remote = cluster.encrypt;
  options.ruled_by = "[cluster." + cluster.name + "]";
  options.self = static_cast<core::NodeId>(config.node);
  options.ring_bytes = config.memory ? ring_bytes() : 0;
  options.segment = segment;
  auto stream = co_await net::connect(gateway.addresses, credentials, options);
  co_return stream;
}

void Endpoint::Gate::connect() { asio::co_spawn(io_.io, connecting(), asio::detached); }

asio::awaitable<void> Endpoint::Gate::connecting() {
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) {
      asio::steady_timer pause(io_.io, kRedial);
      co_await pause.async_wait(asio::use_awaitable);
    }
    try {
      auto stream = co_await dial(0);
      attach(std::move(stream));
      co_return;
    } catch (const Refusal& e) {
      why = e.what();
      break;
    } catch (const std::exception& e) {
      why = e.what();
    }
  }
  io_.tell_fault(io_.rank_name() + " cannot join the grid at " + name() + ": " + why);
}

void Endpoint::Gate::attach(std::shared_ptr<Stream> stream) {
  core::ConduitConfig settings;
  settings.self = static_cast<core::NodeId>(io_.config.node);
  settings.peer = gateway.node;
  settings.session = random_session();
  settings.software = software();
  settings.patience =
      stream->where().starts_with("unix:") ? core::Time::zero() : core::Time(kProcessPatience);
  // A gateway that falls silent is not waited for where others can go on for it.
  settings.stream_timeout = core::Time(io_.gates.size() > 1 ? kFailover : kProcessPatience);
  // Kept until it has arrived at the other process.
  if (io_.config.world.has_spare_gateways()) settings.buffer = core::kCustody;
  driver = std::make_shared<ConduitDriver>(io_.io, std::move(settings), ConduitDriver::For::Program,
                                           *this);
  io_.ways.connect(index, driver->conduit());
  driver->attach(std::move(stream));
}

bool Endpoint::Gate::frame(const core::InFrame& frame, std::uint16_t /*hops*/) {
  return io_.take(*this, frame);
}

core::Landing Endpoint::Gate::place(const core::InFrame& beginning) {
  return io_.place(beginning, this);
}

void Endpoint::Gate::progress() { io_.progress(); }

void Endpoint::Gate::connected() {
  if (!std::exchange(is_connected, true)) io_.connected();
}

void Endpoint::Gate::ended() {
  io_.lose_gate(*this, "it has closed while the program was running");
}

void Endpoint::Gate::dead(const std::string& reason) { io_.lose_gate(*this, reason); }

void Endpoint::Gate::lost(const Loss& loss) {
  const core::Time patience = driver->conduit().config().patience;
  // On one host connections do not break: the gateway has ended.
  if (patience == core::Time::zero() || !io_.open || io_.said_bye) {
    return io_.lose_gate(*this, loss.reason);
  }
  const core::Time limit = loss.by_peer           ? core::Time(kReconnect)
                           : io_.gates.size() > 1 ? core::Time(kFailover)
                                                  : patience;
  asio::co_spawn(io_.io, reconnecting(now() + limit, loss.reason), asio::detached);
}

asio::awaitable<void> Endpoint::Gate::reconnecting(core::Time until, std::string why) {
  int segment = 0;
  std::string refused;
  while (!driver->closed()) {
    if (driver->wants_small_segments()) segment = FullPackets::kSmallSegment;
    try {
      auto stream = co_await dial(segment);
      driver->attach(std::move(stream));
      co_return;
    } catch (const std::exception& e) {
      refused = e.what();
    }
    if (now() >= until) break;
    asio::steady_timer pause(io_.io, kRedial);
    co_await pause.async_wait(asio::use_awaitable);
  }
  if (!driver->closed()) io_.lose_gate(*this, why + "; " + refused);
}

// A gateway that was stopped, or cut off, sees that its processes have closed their connections. It
// takes them for dead unless they tell it.
void Endpoint::Gate::tell_given_up() {
  const core::Conduit& conduit = driver->conduit();
  if (conduit.config().patience == core::Time::zero() || conduit.peer_session() == 0) return;
  asio::co_spawn(io_.io, telling(), asio::detached);
}

asio::awaitable<void> Endpoint::Gate::telling() {
  asio::steady_timer pause(io_.io);
  while (!io_.said_bye) {
    std::shared_ptr<Stream> stream;
    try {
      stream = co_await dial(0);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // It is still away, or gone.
    }
    if (stream) tell_gone_on(stream, driver->conduit());
    pause.expires_after(kLook);
    co_await pause.async_wait(asio::use_awaitable);
    if (!stream) continue;
    stream->close();
    co_return;
  }
}

void Endpoint::Gate::submit(std::span<const std::byte> control) {
  core::OutFrame frame;
  frame.kind = core::FrameKind::Control;
  frame.source = static_cast<core::NodeId>(io_.config.node);
  frame.destination = gateway.node;
  frame.payload = control;
  driver->conduit().submit(frame);
}

void Endpoint::Gate::say(std::span<const std::byte> control) {
  submit(control);
  driver->flush();
}

std::string Endpoint::Gate::name() const {
  const auto& addresses = gateway.addresses;
  return io_.config.world.name_of(gateway.node) + " (" +
         (addresses.empty() ? "no address" : addresses[0]) + ")";
}

}  // namespace isthmus::net
