// News for all other gateways: processes that have joined, and the end of the job. Every gateway
// passes news on to its neighbours once, so it reaches all, whatever the routes.
#include <utility>

#include "daemon/gateway/state.hpp"
#include "net/listener.hpp"

namespace isthmus::daemon {

namespace control = net::control;

void Gateway::State::tell(Peer& peer, core::FrameKind kind, std::span<const std::byte> body) {
  core::OutFrame frame;
  frame.kind = kind;
  frame.source = config.node;
  frame.destination = peer.node;
  frame.payload = body;
  peer.driver->conduit().submit(frame);
  router.submitted(*peer.neighbour);
}

void Gateway::State::tell(Peer& peer, const net::ControlBody& body) {
  tell(peer, core::FrameKind::Control, net::encode_control(body));
}

void Gateway::State::control(Peer& from, const core::InFrame& frame) {
  if (const auto share = net::decode_share(frame.body)) {
    if (!core::is_gateway(from.node)) learn_share(from.node, *share);
    return;
  }
  const auto body = net::decode_control(frame.body);
  if (!body) return;  // of a later release, which is not for us
  std::visit([&](const auto& news) { learn(from, news); }, *body);
}

void Gateway::State::learn(Peer& from, const control::Joined& joined) {
  if (core::is_gateway(from.node)) {
    learn_joined(joined.node, joined.part, from.node);
  } else if (joined.node == from.node) {
    process_joined(from);
  }
}

void Gateway::State::learn(Peer& from, const control::Link& link) {
  if (core::is_gateway(from.node)) learn_link(from, link);
}

void Gateway::State::learn(Peer& from, const control::Lost& lost) {
  if (!core::is_gateway(from.node)) return;
  if (lost.rank < 0) {
    router.learn_lost(*from.neighbour, lost.cluster, lost.message);
  } else {
    router.learn_cut_off(*from.neighbour, static_cast<core::NodeId>(lost.rank), lost.message);
  }
}

void Gateway::State::learn(Peer& from, const control::Other& other) {
  if (!core::is_gateway(from.node)) router.learn_other(other.cluster);
}

void Gateway::State::learn(Peer& from, const control::Here& here) {
  if (!core::is_gateway(from.node) && events.here) events.here(here.text);
}

void Gateway::State::learn(Peer& from, const control::Ask& ask) {
  if (!core::is_gateway(from.node) && events.ask) events.ask(from.node, ask.number, ask.request);
}

void Gateway::State::learn(Peer& from, const control::Crossed& crossed) {
  if (!core::is_gateway(from.node)) learn_crossed(from, crossed);
}

void Gateway::State::learn(Peer& from, const control::Count& /*all*/) { from.counts = false; }

void Gateway::State::learn(Peer& from, const control::Abort& abort) {
  if (!fails(from, abort, abort.message)) return;
  if (events.abort) events.abort(abort.rank, abort.code, abort.message);
}

void Gateway::State::learn(Peer& from, const control::Fault& fault) {
  if (!fails(from, fault, fault.message)) return;
  if (events.fault) events.fault(fault.message, fault.code);
}

// The job ends, by a neighbour's word. Whether that is news.
bool Gateway::State::fails(const Peer& from, const net::ControlBody& news,
                           const std::string& message) {
  if (std::exchange(faulted, true)) return false;
  router.stop();
  tell_all(news, from.node);
  links_settled(message);
  return true;
}

// A process has lost a gateway, and lives. The news takes any way to that gateway, which else takes
// it for dead: by gateways, and by processes that are connected to several.
void Gateway::State::learn_without(const Peer& from, const control::Without& body) {
  const auto& world = router.world();
  if (!world || body.rank < 0 || body.rank >= world->size() || !world->gateway(body.gateway) ||
      !without.emplace(body.rank, body.gateway).second) {
    return;
  }
  if (body.gateway != config.node) {
    tell_all(body, from.node);
    return;
  }
  const auto found = peers.find(static_cast<core::NodeId>(body.rank));
  if (found == peers.end()) return;
  const PeerPtr peer = found->second;
  if (peer->neighbour->left || peer->neighbour->gone) return;
  peer->reconnect.reset();
  peer->driver->conduit().fail(net::kGoneOn);
  peer->driver->close();
  dead(*peer, peer->driver->conduit().dead());
}

void Gateway::ask_where(bool traces) {
  state_->tell_processes(control::Where{traces});
  state_->act();
}

bool Gateway::answer(core::NodeId process, std::uint64_t number, const std::string& reply) {
  const auto found = state_->peers.find(process);
  if (found == state_->peers.end()) return false;
  State::Peer& peer = *found->second;
  if (peer.neighbour->left || peer.neighbour->gone || peer.driver->closed()) return false;
  state_->tell(peer, control::Answer{number, reply});
  state_->act();
  return true;
}

void Gateway::State::learn_crossed(Peer& from, const control::Crossed& body) const {
  const auto& world = router.world();
  if (world && body.cluster < world->clusters.size()) from.crossed[body.cluster] += body.count;
}

void Gateway::ask_crossed() {
  const auto bytes = net::encode_control(control::Count{});
  for (const auto& [node, peer] : state_->peers) {
    if (!peer->joined || peer->neighbour->left || peer->driver->closed()) continue;
    if (!std::exchange(peer->counts, true)) {
      state_->tell(*peer, core::FrameKind::Control, bytes);
    }
  }
  state_->act();
}

void Gateway::State::learn_joined(core::NodeId gateway, int part, core::NodeId from) {
  // The bound holds even before the world is known: no grid has nearly this many gateways.
  if (full.size() >= 65536 || !full.emplace(gateway, part).second) return;
  const auto body = net::encode_control(control::Joined{gateway, part});
  for (const auto& [node, peer] : peers) {
    if (core::is_gateway(node) && node != from && node != gateway && !junctions.contains(node)) {
      tell(*peer, core::FrameKind::Control, body);
    }
  }
  check_ready();
  act();
}

// One gateway speaks for its clusters: a process joins at all of them or at none. The others may
// not be heard here at all, when no chain of links leads to them.
bool Gateway::State::complete(int part) const {
  const core::World& world = *router.world();
  std::set<std::size_t> clusters;
  for (const auto& gateway : world.gateways) {
    if (!full.contains({gateway.node, part})) continue;
    for (const std::size_t cluster : gateway.clusters) {
      if (world.clusters[cluster].part == part) clusters.insert(cluster);
    }
  }
  return clusters.size() == world.part(part).size();
}

void Gateway::State::check_ready() {
  if (!router.world()) return;
  const core::World& world = *router.world();
  for (const std::size_t cluster : router.clusters()) {
    const int part = world.clusters[cluster].part;
    if (ready.contains(part) || !all_joined(part) || !complete(part)) continue;
    ready.insert(part);
    for (const auto& [node, peer] : peers) {
      if (core::is_gateway(node) || world.clusters[world.cluster_of_node(node)].part != part) {
        continue;
      }
      tell(*peer, core::FrameKind::Ready, {});
    }
    if (part != 0) continue;
    router.open();
    if (events.ready) events.ready();
  }
  // One that only forwards has no processes of its own to wait for.
  if (router.clusters().empty() && !ready.contains(0) && complete(0)) {
    ready.insert(0);
    router.open();
    if (events.ready) events.ready();
  }
}

void Gateway::grow(const core::Growth& growth) {
  if (!state_->router.grow(growth)) return;
  state_->growths.push_back(growth);
  state_->tell_processes(control::Grown{core::growth_to_json(growth)});
  state_->check_ready();
  state_->act();
}

void Gateway::State::tell_all(const net::ControlBody& body, core::NodeId except) {
  const auto bytes = net::encode_control(body);
  for (const auto& [node, peer] : peers) {
    if (node == except || peer->neighbour->left || peer->driver->closed()) continue;
    if (junctions.contains(node)) continue;
    tell(*peer, core::FrameKind::Control, bytes);
  }
  act();
}

void Gateway::State::tell_processes(const net::ControlBody& body) {
  const auto bytes = net::encode_control(body);
  for (const auto& [node, peer] : peers) {
    if (core::is_gateway(node) || peer->neighbour->left || peer->driver->closed()) continue;
    tell(*peer, core::FrameKind::Control, bytes);
  }
}

void Gateway::State::fault(const std::string& message, int code) {
  if (faulted || closing || closed) return;
  faulted = true;
  router.stop();
  tell_all(control::Fault{code, message});
  links_settled(message);
  if (events.fault) events.fault(message, code);
}

}  // namespace isthmus::daemon
