#include "daemon/gateway/peers.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "net/host/software.hpp"

namespace isthmus::daemon {

void Peer::came_by(const net::Listener::Newcomer& newcomer) {
  where = newcomer.stream->where();
  leg = newcomer.stream->leg();
  exposed = newcomer.exposed;
}

core::ConduitConfig Peers::settings(core::NodeId node) const {
  return {
      .self = self_, .peer = node, .session = net::random_session(), .software = net::software()};
}

std::shared_ptr<net::ConduitDriver> Peer::drive(asio::io_context& io,
                                                core::ConduitConfig settings) {
  return std::make_shared<net::ConduitDriver>(io, std::move(settings),
                                              net::ConduitDriver::For::Gateway, *this);
}

Peer& Peers::make(core::NodeId node, core::ConduitConfig settings, PeerKind& kind) {
  Peer& peer = peers_.try_emplace(node, node, traffic_, kind).first->second;
  peer.kind = &kind;
  peer.driver = peer.drive(io_, std::move(settings));
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
  const auto before = std::exchange(peer.driver, peer.drive(io_, std::move(settings)));
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

void Peers::tell_all_gateways(const net::ControlBody& body, core::NodeId except) {
  const auto bytes = net::encode_control(body);
  for (auto& [node, peer] : peers_) {
    if (peer.is_process() || peer.is_junction() || node == except || !peer.open()) continue;
    tell(peer, core::FrameKind::Control, bytes);
  }
}

void Peers::tell_processes(const net::ControlBody& body) {
  const auto bytes = net::encode_control(body);
  for (auto& [node, peer] : peers_) {
    if (peer.is_process() && peer.open()) tell(peer, core::FrameKind::Control, bytes);
  }
}

void Peers::read_come() {
  for (const auto& [node, peer] : peers_) peer.driver->read_come();
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
