#include "daemon/gateway/junctions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "core/base/time_text.hpp"
#include "daemon/log/log.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/last_words.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{2000};
// For an address that may be behind a firewall, where services lead there as well.
constexpr std::chrono::milliseconds kDirectLimit{2000};

}  // namespace

void Junctions::Junction::settle(const std::string& trouble) {
  if (auto tell = std::exchange(done, nullptr)) tell(trouble);
}

std::vector<std::string> Junctions::join(JunctionPlan plan, Done done) {
  const bool listens = !plan.listen.empty();
  const core::NodeId end = plan.peer;
  Junction& junction = junctions_[end];
  junction.plan = std::move(plan);
  junction.done = std::move(done);
  std::vector<std::string> listening;
  try {
    if (listens) listening = await(junction);
  } catch (...) {
    junctions_.erase(end);
    throw;
  }
  add_peer(junction);
  if (!listens) dial(junction);
  return listening;
}

std::vector<std::string> Junctions::await(Junction& junction) {
  const JunctionPlan& plan = junction.plan;
  junction.entrance =
      std::make_unique<Entrance>(gateway_, plan.self, net::Credentials{plan.name, plan.secret},
                                 false, [this, &junction](net::Listener::Newcomer newcomer) {
                                   welcome(junction, std::move(newcomer));
                                 });
  std::vector<std::string> listening;
  for (const auto& address : plan.listen) listening.push_back(junction.entrance->listen(address));
  for (const net::Service& service : plan.services) {
    junction.entrance->await_calls(service, "no guests of the run " + plan.run + " are awaited");
  }
  return listening;
}

void Junctions::add_peer(Junction& junction) {
  const JunctionPlan& plan = junction.plan;
  core::ConduitConfig settings = gateway_.peers.settings(plan.peer);
  settings.self = plan.self;
  settings.patience = plan.patience.count() > 0 ? plan.patience : gateway_.config.patience;
  settings.buffer = settings.window = gateway_.config.link_bytes;
  junction.peer = &gateway_.peers.add_junction(plan.peer, std::move(settings), plan.run, *this);
}

void Junctions::connected(Peer& peer) { junctions_.at(peer.node).settle({}); }

void Junctions::lost(Peer& peer, const net::Loss& loss) {
  Junction& junction = junctions_.at(peer.node);
  junction.last_failure = loss.reason;
  if (gateway_.closing) return gateway_.check_closed();
  if (!junction.entrance) dial(junction);  // else the other end connects again
}

void Junctions::ended(Peer& peer) { lose(junctions_.at(peer.node), "has ended"); }

void Junctions::dead(Peer& peer, const std::string& reason) {
  const Junction& junction = junctions_.at(peer.node);
  lose(junction, "is not heard any more: " + reason +
                     (junction.last_failure.empty() ? "" : "; " + junction.last_failure));
}

void Junctions::welcome(const Junction& junction, net::Listener::Newcomer newcomer) {
  if (gateway_.closed) return;
  Peer& peer = *junction.peer;
  const core::Conduit& conduit = peer.conduit();
  const bool known = conduit.connected() || conduit.peer_session() != 0;
  if (newcomer.node != peer.node || gateway_.closing || peer.driver->closed() ||
      (known && conduit.peer_session() != newcomer.session)) {
    net::refuse(newcomer.stream, junction.plan.self, newcomer.node,
                "this junction is not awaited here");
    return;
  }
  peer.where = newcomer.stream->where();
  log::debug("the junction to {} stands, from {}", junction.plan.run, peer.where);
  peer.driver->attach(std::move(newcomer.stream), newcomer.read);
}

void Junctions::dial(Junction& junction) {
  asio::co_spawn(gateway_.io, dialling(gateway_.shared_from_this(), junction), asio::detached);
}

bool Junctions::over(const Junction& junction) const {
  return gateway_.closing || gateway_.closed || junction.peer->driver->closed();
}

asio::awaitable<void> Junctions::dialling([[maybe_unused]] std::shared_ptr<Common> alive,
                                          Junction& junction) {
  const auto most = gateway_.config.connect_timeout;
  net::ConnectOptions options;
  options.limit = std::min(options.limit, most / 2);
  options.handshake_limit = std::min(options.handshake_limit, most / 2);
  const asio::steady_timer limit(gateway_.io, most);
  std::chrono::milliseconds pause = kFirstPause;
  // Ends with success, with the conduit (its patience), or before the first with connect_timeout.
  while (!over(junction)) {
    try {
      auto stream = co_await reach(junction, options);
      if (over(junction)) co_return;
      junction.peer->where = stream->where();
      junction.peer->driver->attach(std::move(stream));
      co_return;
    } catch (const std::exception& e) {
      junction.last_failure = e.what();
    }
    if (junction.done && std::chrono::steady_clock::now() > limit.expiry()) {
      junction.settle(fmt::format("no gateway of the run {} could be reached within {}: {}",
                                  junction.plan.run, core::time_text(most), junction.last_failure));
      co_return;
    }
    asio::steady_timer timer(gateway_.io, pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Uses the addresses or a service, and first the way that has worked before.
asio::awaitable<std::shared_ptr<net::Stream>> Junctions::reach(Junction& junction,
                                                               net::ConnectOptions options) {
  const JunctionPlan& plan = junction.plan;
  const net::Credentials credentials{plan.name, plan.secret};
  if (plan.services.empty()) co_return co_await net::connect(plan.connect, credentials, options);
  net::ConnectOptions direct = options;
  direct.limit = std::min(options.limit, kDirectLimit);
  std::string failures;
  for (int i = 0; i < 2; ++i) {
    try {
      std::shared_ptr<net::Stream> stream;
      if (junction.by_service) {
        stream = co_await net::call(plan.services, plan.peer, credentials,
                                    net::Protection::Encrypted, options.limit);
      } else {
        stream = co_await net::connect(plan.connect, credentials, direct);
      }
      co_return stream;
    } catch (const std::exception& error) {
      failures += (failures.empty() ? "" : "; ") + std::string(error.what());
    }
    junction.by_service = !junction.by_service;
  }
  throw std::runtime_error(failures);
}

void Junctions::lose(const Junction& junction, const std::string& why) {
  if (gateway_.closing) return gateway_.check_closed();
  const std::string run = junction.plan.run;
  log::debug("the junction to {} is lost: it {}", run, why);
  gateway_.router.part(run);
  gateway_.act();
  gateway_.user->parted(run, "the run " + run + ' ' + why);
}

void Junctions::part(const std::string& run) {
  gateway_.router.part(run);
  for (auto& [node, junction] : junctions_) {
    if (junction.plan.run != run) continue;
    if (junction.entrance) junction.entrance->end_calls();
    if (junction.peer->driver->closed()) continue;
    if (junction.entrance) junction.entrance->close();
    junction.peer->driver->close();
    junction.settle("it has ended meanwhile");
  }
  gateway_.act();
}

net::DoorCount Junctions::turned_away() const {
  net::DoorCount count;
  for (const auto& [node, junction] : junctions_) {
    if (junction.entrance) count = count + junction.entrance->turned_away();
  }
  return count;
}

void Junctions::close() {
  for (auto& [node, junction] : junctions_) {
    if (junction.entrance) junction.entrance->close();
  }
}

}  // namespace isthmus::daemon
