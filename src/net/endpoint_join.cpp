// A process joins: it connects to every gateway of its cluster, and says so when all have answered.
// It connects again if a connection is lost.
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/use_awaitable.hpp>
#include <bit>
#include <utility>

#include "core/limits.hpp"
#include "net/connect.hpp"
#include "net/endpoint_io.hpp"
#include "net/handshake.hpp"
#include "net/host_addresses.hpp"
#include "net/shm/ring_stream.hpp"
#include "net/software.hpp"

namespace isthmus::net {
namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::milliseconds kRedial{200};
// The interval of attempts to reach a gateway that was given up. It is shorter than
// kAwaitReconnect.
constexpr std::chrono::milliseconds kLook{1000};
// The bytes of all rings of a gateway. This is enough for 32 processes with rings of the largest
// size. Larger rings are quicker for streams. 1 MiB messages through two gateways on two cores
// reached (2026-11): sockets 1.17 GB/s, rings of 64 KiB 1.08, of 256 KiB 1.29, of 1 MiB 1.61.
constexpr std::size_t kGatewaysRings = std::size_t{64} << 20;

}  // namespace

// The size of each of the two rings between this process and a gateway on its host.
std::size_t Endpoint::Io::ring_bytes() const {
  std::size_t most = 1;  // processes of a gateway
  for (const Gate& gate : gates) {
    std::size_t served = 0;
    for (const std::size_t cluster : gate.gateway.clusters) {
      if (cluster >= config.world.clusters.size()) continue;
      served += static_cast<std::size_t>(config.world.clusters[cluster].size);
    }
    most = std::max(most, served);
  }
  return std::min(RingStream::kMost, std::bit_floor(kGatewaysRings / (2 * most)));
}

ConnectOptions Endpoint::Io::connect_options() const {
  ConnectOptions options;
  const core::Cluster& cluster = config.world.clusters[config.world.cluster_of(config.node)];
  options.net = cluster.net;
  options.encrypt_remote = cluster.encrypt;
  options.ruled_by = "[cluster." + cluster.name + "]";
  options.self = static_cast<core::NodeId>(config.node);
  options.ring_bytes = config.memory ? ring_bytes() : 0;
  return options;
}

void Endpoint::Io::connect(std::size_t gate) {
  asio::co_spawn(
      io,
      [](Io* self, std::size_t index) -> asio::awaitable<void> {
        std::string why;
        const auto addresses = self->gates[index].gateway.addresses;
        const Credentials credentials{self->config.job, self->config.secret};
        const ConnectOptions options = self->connect_options();
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
          if (attempt > 0) {
            asio::steady_timer pause(self->io, std::chrono::milliseconds(200));
            co_await pause.async_wait(asio::use_awaitable);
          }
          try {
            auto stream = co_await net::connect(addresses, credentials, options);
            self->attach(index, std::move(stream));
            co_return;
          } catch (const Refusal& e) {
            why = e.what();
            break;
          } catch (const std::exception& e) {
            why = e.what();
          }
        }
        self->tell_fault(self->rank_name() + " cannot join the grid at " +
                         self->name(self->gates[index]) + ": " + why);
      }(this, gate),
      asio::detached);
}

void Endpoint::Io::attach(std::size_t index, std::shared_ptr<Stream> stream) {
  core::ConduitConfig settings;
  settings.self = static_cast<core::NodeId>(config.node);
  settings.peer = gates[index].gateway.node;
  settings.session = random_session();
  settings.software = software();
  settings.patience =
      stream->where().starts_with("unix:") ? core::Time::zero() : core::Time(kProcessPatience);
  // A gateway that falls silent is not waited for where others can go on for it.
  settings.stream_timeout = core::Time(kProcessPatience);
  if (gates.size() > 1) settings.stream_timeout = core::Time(kFailover);
  // Kept until it has arrived at the other process.
  if (config.world.has_spare_gateways()) settings.buffer = core::kCustody;
  auto driver = std::make_shared<ConduitDriver>(io, std::move(settings),
                                                ConduitDriver::For::Program, gates[index]);
  gates[index].driver = driver;
  ways.connect(index, driver->conduit());
  driver->attach(std::move(stream));
}

// Others may send here by the way of any gateway. So no gateway hears that this process has joined
// before all know it.
void Endpoint::Io::connected(std::size_t index) {
  if (std::exchange(gates[index].is_connected, true)) return;
  if (!std::all_of(gates.begin(), gates.end(),
                   [](const Gate& gate) { return gate.is_connected; })) {
    return;
  }
  say(control::Joined{static_cast<core::NodeId>(config.node), 0, host_name()});
}

void Endpoint::Io::reconnect(std::size_t index, const Loss& loss) {
  const auto driver = gates[index].driver;
  // On one host connections do not break: the gateway has ended.
  if (driver->conduit().config().patience == core::Time::zero() || !open || said_bye) {
    return lose_gate(index, loss.reason);
  }
  const core::Time patience = driver->conduit().config().patience;
  const core::Time limit = loss.by_peer       ? core::Time(kReconnect)
                           : gates.size() > 1 ? core::Time(kFailover)
                                              : patience;
  asio::co_spawn(
      io,
      [](Io* self, std::size_t gate, core::Time until, std::string why) -> asio::awaitable<void> {
        const auto resumed = self->gates[gate].driver;
        const auto addresses = self->gates[gate].gateway.addresses;
        const Credentials credentials{self->config.job, self->config.secret};
        ConnectOptions options = self->connect_options();
        std::string refused;
        while (!resumed->closed()) {
          if (resumed->wants_small_segments()) options.segment = FullPackets::kSmallSegment;
          try {
            auto stream = co_await net::connect(addresses, credentials, options);
            resumed->attach(std::move(stream));
            co_return;
          } catch (const std::exception& e) {
            refused = e.what();
          }
          if (now() >= until) break;
          asio::steady_timer pause(self->io, kRedial);
          co_await pause.async_wait(asio::use_awaitable);
        }
        if (!resumed->closed()) self->lose_gate(gate, why + "; " + refused);
      }(this, index, now() + limit, loss.reason),
      asio::detached);
}

// A gateway that was stopped, or cut off, sees that its processes have closed their connections. It
// takes them for dead unless they tell it.
void Endpoint::Io::tell_given_up(std::size_t index) {
  const core::Conduit& conduit = gates[index].driver->conduit();
  if (conduit.config().patience == core::Time::zero() || conduit.peer_session() == 0) return;
  asio::co_spawn(
      io,
      [](Io* self, std::size_t gate) -> asio::awaitable<void> {
        const core::Conduit& past = self->gates[gate].driver->conduit();
        const auto addresses = self->gates[gate].gateway.addresses;
        const Credentials credentials{self->config.job, self->config.secret};
        const ConnectOptions options = self->connect_options();
        asio::steady_timer pause(self->io);
        while (!self->said_bye) {
          std::shared_ptr<Stream> stream;
          try {
            stream = co_await net::connect(addresses, credentials, options);
          } catch (const std::exception&) {
            // It is still away, or gone.
          }
          if (stream) tell_gone_on(stream, past);
          pause.expires_after(kLook);
          co_await pause.async_wait(asio::use_awaitable);
          if (!stream) continue;
          stream->close();
          co_return;
        }
      }(this, index),
      asio::detached);
}

}  // namespace isthmus::net
