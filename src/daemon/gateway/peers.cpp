#include "daemon/gateway/peers.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "net/software.hpp"

namespace isthmus::daemon {

void Peer::came_by(const net::Listener::Newcomer& newcomer) {
  where = newcomer.stream->where();
  leg = newcomer.stream->leg();
  exposed = newcomer.exposed;
}

core::ConduitConfig Peers::settings(core::NodeId node) const {
  core::ConduitConfig settings;
  settings.self = self_;
  settings.peer = node;
  settings.session = net::random_session();
  settings.software = net::software();
  return settings;
}

std::shared_ptr<net::ConduitDriver> Peers::drive(Peer& peer, core::ConduitConfig settings) {
  net::ConduitDriver::Hooks hooks;
  // The driver calls nothing once closed, which happens before the peer goes.
  Peer* p = &peer;
  hooks.passes_on = true;
  hooks.frame = [this, p](const core::InFrame& frame, std::uint16_t hops) {
    return traffic_.frame(*p, frame, hops);
  };
  hooks.progress = hooks.room = [this, p] { traffic_.progress(*p); };
  hooks.connected = [p] { p->kind->connected(*p); };
  hooks.lost = [p](const net::Loss& loss) { p->kind->lost(*p, loss); };
  hooks.ended = [p] { p->kind->ended(*p); };
  hooks.dead = [p](const std::string& reason) { p->kind->dead(*p, reason); };
  return std::make_shared<net::ConduitDriver>(io_, std::move(settings), std::move(hooks));
}

Peer& Peers::make(core::NodeId node, core::ConduitConfig settings, PeerKind& kind) {
  Peer& peer = peers_[node];
  peer.node = node;
  peer.kind = &kind;
  peer.driver = drive(peer, std::move(settings));
  return peer;
}

Peer& Peers::add(core::NodeId node, core::ConduitConfig settings, PeerKind& kind) {
  Peer& peer = make(node, std::move(settings), kind);
  peer.neighbour = &router_.add(node, peer.conduit());
  return peer;
}

Peer& Peers::add_junction(core::NodeId node, core::ConduitConfig settings, const std::string& run,
                          PeerKind& kind) {
  Peer& peer = make(node, std::move(settings), kind);
  peer.neighbour = &router_.add_junction(node, peer.conduit(), run);
  return peer;
}

void Peers::renew(Peer& peer, core::ConduitConfig settings) {
  const auto before = std::exchange(peer.driver, drive(peer, std::move(settings)));
  asio::post(io_, [before] {});  // it may be at work further up
}

Peer* Peers::find(core::NodeId node) {
  const auto found = peers_.find(node);
  return found == peers_.end() ? nullptr : &found->second;
}

void Peers::tell(Peer& peer, core::FrameKind kind, std::span<const std::byte> body) {
  core::OutFrame frame;
  frame.kind = kind;
  frame.source = self_;
  frame.destination = peer.node;
  frame.payload = body;
  peer.conduit().submit(frame);
  router_.submitted(*peer.neighbour);
}

void Peers::tell(Peer& peer, const net::ControlBody& body) {
  tell(peer, core::FrameKind::Control, net::encode_control(body));
}

void Peers::tell_all(const net::ControlBody& body, core::NodeId except) {
  const auto bytes = net::encode_control(body);
  for (auto& [node, peer] : peers_) {
    if (node == except || peer.is_junction() || !peer.open()) continue;
    tell(peer, core::FrameKind::Control, bytes);
  }
}

void Peers::tell_processes(const net::ControlBody& body) {
  const auto bytes = net::encode_control(body);
  for (auto& [node, peer] : peers_) {
    if (peer.is_process() && peer.open()) tell(peer, core::FrameKind::Control, bytes);
  }
}

void Peers::say_goodbye() {
  for (auto& [node, peer] : peers_) {
    peer.conduit().bye();
    peer.driver->flush();
  }
}

bool Peers::flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& entry) {
    const net::ConduitDriver& driver = *entry.second.driver;
    return driver.closed() || driver.streams() == 0 || driver.conduit().flushed();
  });
}

void Peers::close() {
  for (auto& [node, peer] : peers_) peer.driver->close();
}

}  // namespace isthmus::daemon
