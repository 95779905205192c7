#include "daemon/gateway/gateway.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "daemon/gateway/state.hpp"
#include "net/software.hpp"

namespace isthmus::daemon {

Gateway::State::State(asio::io_context& context, GatewayConfig settings, Events handlers)
    : io(context),
      config(std::move(settings)),
      events(std::move(handlers)),
      router({config.node, config.failover}),
      link_timer(context),
      tune_timer(context),
      close_timer(context) {}

Gateway::State::~State() { close_now(); }

Gateway::Gateway(asio::io_context& io, GatewayConfig config, Events events)
    : state_(std::make_shared<State>(io, std::move(config), std::move(events))) {}

Gateway::~Gateway() {
  state_->events = {};
  state_->links_done = {};
  state_->close_done = {};
  state_->close_now();
}

std::function<void(const std::string&)> Gateway::State::warns_of_files() {
  return [weak = weak_from_this()](const std::string& sentence) {
    const auto self = weak.lock();
    if (self && self->events.warning) {
      self->events.warning(self->name(self->config.node) + " " + sentence);
    }
  };
}

std::vector<std::string> Gateway::listen(const std::vector<std::string>& addresses) {
  if (!state_->listener) {
    net::ListenerConfig settings;
    settings.self = state_->config.node;
    settings.software = net::software();
    settings.credentials = {state_->config.job, state_->config.secret};
    settings.accept_plain = state_->config.accept_plain || state_->config.accept_plain_ranks;
    settings.handshake_timeout = state_->config.handshake_timeout;
    settings.short_of_files = state_->warns_of_files();
    state_->listener = std::make_unique<net::Listener>(
        state_->io, std::move(settings),
        [weak = std::weak_ptr(state_)](net::Listener::Newcomer newcomer) {
          if (const auto state = weak.lock()) state->welcome(std::move(newcomer));
        },
        [weak = std::weak_ptr(state_)](const std::string& sentence) {
          const auto state = weak.lock();
          if (state && state->events.rejected) state->events.rejected(sentence);
        });
  }
  std::vector<std::string> actual;
  actual.reserve(addresses.size());
  for (const auto& address : addresses) actual.push_back(state_->listener->listen(address));
  return actual;
}

void Gateway::await_calls(const std::string& at) {
  const net::Service* const service = state_->service_at(at);
  if (service == nullptr || !state_->listener) {
    throw net::ListenError("has no key for the service " + at, "");
  }
  state_->doors.push_back(std::make_unique<net::ServiceDoor>(
      state_->io, *service, state_->config.node,
      [weak = std::weak_ptr(state_)](net::Socket socket, const std::string& where) {
        if (const auto state = weak.lock(); state && state->listener) {
          state->listener->adopt(std::move(socket), where);
        }
      },
      [weak = std::weak_ptr(state_)](const std::string& sentence) {
        const auto state = weak.lock();
        if (state && state->events.rejected) {
          state->events.rejected("no calls are awaited: " + sentence);
        }
      }));
}

const net::Service* Gateway::State::service_at(const std::string& at) const {
  const auto found = std::find_if(config.services.begin(), config.services.end(),
                                  [&at](const net::Service& service) { return service.at == at; });
  return found == config.services.end() ? nullptr : &*found;
}

void Gateway::link(core::World world, std::vector<GatewayLink> links, core::Routes next,
                   std::function<void(const std::string& error)> done) {
  if (state_->config.anew) state_->expect_neighbours(next);
  state_->router.learn_world(std::move(world), std::move(next));
  state_->welcome_early();
  state_->open_links(std::move(links), std::move(done));
  state_->plan_tuning();
  state_->check_ready();
}

void Gateway::fault(const std::string& message, int code) {
  state_->events.abort = nullptr;
  state_->events.fault = nullptr;
  state_->fault(message, code);
}

void Gateway::close(std::function<void()> done) { state_->close(std::move(done)); }

bool Gateway::joined() const { return state_->all_joined(0); }
bool Gateway::finished() const { return state_->all_left(); }

std::vector<Attendance> Gateway::attendance() const {
  std::vector<Attendance> all;
  for (const std::size_t index : state_->router.clusters()) {
    const core::Cluster& cluster = state_->router.world()->clusters[index];
    const auto here = state_->present.find(index);
    const auto present = here == state_->present.end() ? Gateway::State::Present{} : here->second;
    all.push_back({cluster.name, cluster.size, present.joined, present.left, present.died,
                   present.first_died});
  }
  return all;
}

Gateway::Crossed Gateway::crossed() const {
  return state_->crossed([](const State::Peer&) { return true; });
}

Gateway::Crossed Gateway::crossed_of_left() const {
  return state_->crossed([](const State::Peer& process) { return process.neighbour->left; });
}

const core::Router::Crossings& Gateway::crossings() const { return state_->router.crossings(); }

std::uint64_t Gateway::redirected() const { return state_->router.redirected(); }

std::vector<LinkCount> Gateway::counts() const {
  std::vector<LinkCount> counts;
  for (const auto& [node, peer] : state_->peers) {
    if (!core::is_gateway(node) || !peer->neighbour->run.empty()) continue;
    const auto& sent = peer->driver->conduit().counts();
    LinkCount count{state_->config.node,    node,           peer->neighbour->messages, sent.frames,
                    peer->neighbour->bytes, sent.wire_bytes};
    count.streams = static_cast<int>(peer->driver->streams());
    count.ucx = peer->driver->goes_by(net::Stream::Leg::Ucx);
    count.memory = peer->driver->goes_by(net::Stream::Leg::Memory);
    count.rtt = peer->tuning.rtt;
    count.min_rtt = peer->tuning.min_rtt;
    count.best_rate = peer->tuning.best_rate;
    count.repeated = peer->tuning.repeated;
    count.waiting = peer->driver->conduit().backlog();
    count.silence =
        std::chrono::duration_cast<std::chrono::milliseconds>(peer->neighbour->silence.length);
    counts.push_back(count);
  }
  return counts;
}

std::map<std::size_t, NearCount> Gateway::near() const {
  std::map<std::size_t, NearCount> near;
  for (const auto& [node, peer] : state_->peers) {
    if (core::is_gateway(node)) continue;
    NearCount& count = near[state_->router.world()->cluster_of_node(node)];
    ++count.processes;
    if (peer->leg == net::Stream::Leg::Ucx) ++count.ucx;
    if (peer->leg == net::Stream::Leg::Memory) ++count.memory;
    if (peer->exposed && peer->leg != net::Stream::Leg::Ucx) ++count.plain;
    count.messages += peer->neighbour->messages;
    count.bytes += peer->neighbour->bytes;
    count.wire_bytes += peer->driver->conduit().counts().wire_bytes;
  }
  return near;
}

// ---- closing ----------------------------------------------------------------------------------

void Gateway::State::close(std::function<void()> done) {
  closing = true;
  close_done = std::move(done);
  for (const auto& [node, peer] : peers) {
    peer->driver->conduit().bye();
    peer->driver->flush();
  }
  close_timer.expires_after(std::chrono::milliseconds(900));
  close_timer.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (!error && self) self->close_now();
  });
  asio::post(io, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check_closed();
  });
}

void Gateway::State::check_closed() {
  if (!closing || closed) return;
  for (const auto& [node, peer] : peers) {
    const bool gone = peer->driver->closed() || peer->driver->streams() == 0;
    if (!gone && !peer->driver->conduit().flushed()) return;
  }
  close_now();
}

void Gateway::State::close_now() {
  if (closed) return;
  closed = true;
  close_timer.cancel();
  link_timer.cancel();
  tune_timer.cancel();
  for (const auto& newcomer : std::exchange(early, {})) newcomer.stream->close();
  doors.clear();
  if (listener) listener->close();
  close_junctions();
  for (const auto& [node, peer] : peers) peer->driver->close();
  // On its own, so that the one who asked may destroy the gateway.
  if (close_done) asio::post(io, std::exchange(close_done, nullptr));
}

}  // namespace isthmus::daemon
