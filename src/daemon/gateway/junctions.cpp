// Conduits to gateways of other runs (docs/joining.md). Each has credentials and numbers of its
// own, and carries routed frames alone: what happens in one run is not told to the other, but that
// it ends.
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "core/time_text.hpp"
#include "daemon/gateway/state.hpp"
#include "daemon/log/log.hpp"
#include "net/connect.hpp"
#include "net/handshake.hpp"
#include "net/software.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{2000};
// For an address that may be behind a firewall, where services lead there as well.
constexpr std::chrono::milliseconds kDirectLimit{2000};

}  // namespace

struct Gateway::State::Junction {
  JunctionPlan plan;
  PeerPtr peer;
  std::unique_ptr<net::Listener> listener;
  std::vector<std::unique_ptr<net::ServiceDoor>> doors;  // of the end that listens
  std::function<void(const std::string&)> done;          // until it stands
  std::string last_failure;
  bool by_service = false;  // the way that has led there last, and goes first

  bool listens() const { return !plan.listen.empty(); }
  void settle(const std::string& trouble) {
    if (auto tell = std::exchange(done, nullptr)) tell(trouble);
  }
};

std::vector<std::string> Gateway::State::join(JunctionPlan plan,
                                              std::function<void(const std::string&)> done) {
  auto junction = std::make_shared<Junction>();
  junction->plan = std::move(plan);
  junction->done = std::move(done);
  std::vector<std::string> listening;
  if (junction->listens()) {
    net::ListenerConfig settings;
    settings.self = junction->plan.self;
    settings.software = net::software();
    settings.credentials = {junction->plan.name, junction->plan.secret};
    settings.handshake_timeout = config.handshake_timeout;
    settings.short_of_files = warns_of_files();
    junction->listener = std::make_unique<net::Listener>(
        io, std::move(settings),
        [this, j = junction.get()](net::Listener::Newcomer newcomer) {
          welcome_guests(*j, std::move(newcomer));
        },
        [weak = weak_from_this()](const std::string& sentence) {
          const auto self = weak.lock();
          if (self && self->events.rejected) self->events.rejected(sentence);
        });
    for (const auto& address : junction->plan.listen) {
      listening.push_back(junction->listener->listen(address));
    }
    await_guests(junction);
  }
  junctions[junction->plan.peer] = junction;
  add_junction_peer(junction);
  if (!junction->listens()) {
    asio::co_spawn(io, dial_junction(shared_from_this(), junction), asio::detached);
  }
  return listening;
}

void Gateway::State::await_guests(const std::shared_ptr<Junction>& junction) {
  for (const net::Service& service : junction->plan.services) {
    junction->doors.push_back(std::make_unique<net::ServiceDoor>(
        io, service, junction->plan.self,
        [weak = std::weak_ptr(junction)](net::Socket socket, const std::string& where) {
          const auto called = weak.lock();
          if (called && called->listener) called->listener->adopt(std::move(socket), where);
        },
        [weak = weak_from_this(), run = junction->plan.run](const std::string& sentence) {
          const auto self = weak.lock();
          if (self && self->events.rejected) {
            self->events.rejected("no guests of the run " + run + " are awaited: " + sentence);
          }
        }));
  }
}

void Gateway::State::add_junction_peer(const std::shared_ptr<Junction>& junction) {
  auto peer = std::make_shared<Peer>();
  Peer* p = peer.get();
  Junction* j = junction.get();
  peer->node = j->plan.peer;
  core::ConduitConfig settings;
  settings.self = junction->plan.self;
  settings.peer = junction->plan.peer;
  settings.session = net::random_session();
  settings.software = net::software();
  settings.patience = j->plan.patience.count() > 0 ? j->plan.patience : config.patience;
  settings.buffer = settings.window = config.link_bytes;
  net::ConduitDriver::Hooks hooks;
  hooks.passes_on = true;
  hooks.frame = [this, p](const core::InFrame& frame, std::uint16_t hops) {
    return !core::is_routed(frame.kind) || router.take(*p->neighbour, frame, hops);
  };
  hooks.progress = hooks.room = [this, p] { progress(*p); };
  hooks.connected = [j] { j->settle({}); };
  hooks.lost = [this, j](const net::Loss& loss) {
    j->last_failure = loss.reason;
    if (closing) return check_closed();
    if (j->listens()) return;  // the other end connects again, within the patience
    asio::co_spawn(io, dial_junction(shared_from_this(), junctions.at(j->plan.peer)),
                   asio::detached);
  };
  hooks.ended = [this, j] { junction_lost(*j, "has ended"); };
  hooks.dead = [this, j](const std::string& reason) {
    junction_lost(*j, "is not heard any more: " + reason +
                          (j->last_failure.empty() ? "" : "; " + j->last_failure));
  };
  peer->driver = std::make_shared<net::ConduitDriver>(io, std::move(settings), std::move(hooks));
  peer->neighbour = &router.add_junction(peer->node, peer->driver->conduit(), junction->plan.run);
  junction->peer = peer;
  peers[peer->node] = std::move(peer);
}

void Gateway::State::welcome_guests(Junction& junction, net::Listener::Newcomer newcomer) {
  if (closed) return;
  Peer& peer = *junction.peer;
  const core::Conduit& conduit = peer.driver->conduit();
  const bool known = conduit.connected() || conduit.peer_session() != 0;
  if (newcomer.node != peer.node || closing || peer.driver->closed() ||
      (known && conduit.peer_session() != newcomer.session)) {
    net::refuse(newcomer.stream, junction.plan.self, newcomer.node,
                "this junction is not awaited here");
    return;
  }
  peer.where = newcomer.stream->where();
  log::debug("the junction to {} stands, from {}", junction.plan.run, peer.where);
  peer.driver->attach(std::move(newcomer.stream), newcomer.read);
}

// Uses the addresses or a service, and first the way that has worked before.
asio::awaitable<std::shared_ptr<net::Stream>> Gateway::State::reach_junction(
    std::shared_ptr<Junction> junction, net::ConnectOptions options) {
  const JunctionPlan& plan = junction->plan;
  const net::Credentials credentials{plan.name, plan.secret};
  if (plan.services.empty()) co_return co_await net::connect(plan.connect, credentials, options);
  net::ConnectOptions direct = options;
  direct.limit = std::min(options.limit, kDirectLimit);
  std::string failures;
  for (int i = 0; i < 2; ++i) {
    try {
      std::shared_ptr<net::Stream> stream;
      if (junction->by_service) {
        stream = co_await net::call(plan.services, plan.peer, credentials,
                                    net::Protection::Encrypted, options.limit);
      } else {
        stream = co_await net::connect(plan.connect, credentials, direct);
      }
      co_return stream;
    } catch (const std::exception& error) {
      failures += (failures.empty() ? "" : "; ") + std::string(error.what());
    }
    junction->by_service = !junction->by_service;
  }
  throw std::runtime_error(failures);
}

asio::awaitable<void> Gateway::State::dial_junction(std::shared_ptr<State> self,
                                                    std::shared_ptr<Junction> junction) {
  net::ConnectOptions options;
  options.limit = std::min(options.limit, self->config.connect_timeout / 2);
  options.handshake_limit = std::min(options.handshake_limit, self->config.connect_timeout / 2);
  const asio::steady_timer limit(self->io, self->config.connect_timeout);
  std::chrono::milliseconds pause = kFirstPause;
  // Ends with success, with the conduit (its patience), or before the first with connect_timeout.
  while (!self->closing && !self->closed && !junction->peer->driver->closed()) {
    try {
      auto stream = co_await reach_junction(junction, options);
      if (self->closing || self->closed || junction->peer->driver->closed()) co_return;
      junction->peer->where = stream->where();
      junction->peer->driver->attach(std::move(stream));
      co_return;
    } catch (const std::exception& e) {
      junction->last_failure = e.what();
    }
    if (junction->done && std::chrono::steady_clock::now() > limit.expiry()) {
      junction->settle("no gateway of the run " + junction->plan.run + " could be reached within " +
                       core::time_text(self->config.connect_timeout) + ": " +
                       junction->last_failure);
      co_return;
    }
    asio::steady_timer timer(self->io, pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(2 * pause, kLongestPause);
  }
}

void Gateway::State::junction_lost(Junction& junction, const std::string& why) {
  if (closing) return check_closed();
  const std::string run = junction.plan.run;
  log::debug("the junction to {} is lost: it {}", run, why);
  router.part(run);
  act();
  if (events.parted) events.parted(run, "the run " + run + ' ' + why);
}

void Gateway::State::part(const std::string& run) {
  router.part(run);
  for (const auto& [node, junction] : junctions) {
    if (junction->plan.run == run) junction->doors.clear();
    if (junction->plan.run != run || junction->peer->driver->closed()) continue;
    if (junction->listener) junction->listener->close();
    junction->peer->driver->close();
    junction->settle("it has ended meanwhile");
  }
  act();
}

void Gateway::State::close_junctions() {
  for (const auto& [node, junction] : junctions) {
    junction->doors.clear();
    if (junction->listener) junction->listener->close();
  }
}

TurnedAway Gateway::turned_away() const {
  TurnedAway count;
  if (state_->listener) count.ranks_and_gateways = state_->listener->turned_away();
  for (const auto& [node, junction] : state_->junctions) {
    if (junction->listener) count.guests = count.guests + junction->listener->turned_away();
  }
  return count;
}

std::vector<std::string> Gateway::join(JunctionPlan plan,
                                       std::function<void(const std::string&)> done) {
  return state_->join(std::move(plan), std::move(done));
}

void Gateway::part(const std::string& run, const std::string& sentence) {
  state_->part(run);
  state_->tell_processes(net::control::Parted{run, sentence});
  state_->act();
}

}  // namespace isthmus::daemon
