// Links that are not heard. Their patience is long, since networks and hosts come back: until it
// ends the user is told now and then. Where the grid has other ways those are taken much earlier.
// Whether another gateway of this cluster has one, only the processes know: they are asked.
#include <algorithm>

#include "core/time_text.hpp"
#include "daemon/gateway/gateway_state.hpp"

namespace isthmus::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstTold{30'000};

milliseconds in_ms(core::Time time) { return std::chrono::duration_cast<milliseconds>(time); }

}  // namespace

// Called every 100 ms.
void Gateway::State::watch(Peer& peer) {
  if (peer.left || peer.driver->closed() || faulted) return;
  const core::Conduit& conduit = peer.driver->conduit();
  const core::Time silence = conduit.silence(net::now()), patience = conduit.config().patience;
  if (silence < std::min(conduit.config().stream_timeout, patience / 2)) {
    if (peer.silence.begun) heard_again(peer);
    return;
  }
  Silence& state = peer.silence;
  state.length = in_ms(silence);
  const bool first = !std::exchange(state.begun, true);
  if (state.length >= std::max(std::min(kFirstTold, in_ms(patience / 4)), 2 * state.told)) {
    tell_silence(peer, false);
  }
  if (ready && state.length >= config.failover) {
    if (net::now() - state.asked >= config.failover / 2) ask_for_others(peer);
    fail_over(peer);
  } else if (first) {
    for (const std::size_t index : carried(peer)) {
      net::ControlBody body;
      body.what = net::ControlBody::What::Silent;
      body.cluster = index;
      tell_processes(body);
    }
  }
}

// Clusters that are reached by the link.
std::vector<std::size_t> Gateway::State::carried(const Peer& peer) const {
  std::vector<std::size_t> clusters;
  for (const auto& [index, node] : next) {
    if (node == peer.node) clusters.push_back(index);
  }
  return clusters;
}

// What they answered before may be true no more.
void Gateway::State::ask_for_others(Peer& peer) {
  peer.silence.asked = net::now();
  peer.silence.elsewhere.clear();
  for (const std::size_t index : carried(peer)) {
    net::ControlBody body;
    body.what = net::ControlBody::What::Silent;
    body.cluster = index;
    body.ask = true;
    tell_processes(body);
  }
}

void Gateway::State::tell_processes(const net::ControlBody& body) {
  if (fellows() == 1) return;
  const auto bytes = net::encode_control(body);
  for (const auto& [node, peer] : peers) {
    if (core::is_gateway(node) || peer->left || peer->driver->closed()) continue;
    tell(*peer, core::FrameKind::Control, bytes);
  }
  flush();
}

// A process knows another gateway that reaches the cluster.
void Gateway::State::learn_other(std::size_t index) {
  const auto way = next.find(index);
  if (way == next.end()) return;
  const auto found = peers.find(way->second);
  if (found == peers.end() || found->second->silence.length < config.failover) return;
  const PeerPtr peer = found->second;
  peer->silence.elsewhere.insert(index);
  fail_over(*peer);
}

// Gives the link up if all that it carries has other ways.
void Gateway::State::fail_over(Peer& peer) {
  if (!ready || faulted || peer.driver->closed()) return;
  const auto clusters = carried(peer);
  const bool all = std::all_of(clusters.begin(), clusters.end(), [&](std::size_t index) {
    return peer.silence.elsewhere.contains(index) || other_way(index, true) != core::kNobody;
  });
  if (clusters.empty() || !all) return;
  const milliseconds whole = peer.silence.length - peer.silence.length % 1000;
  peer.driver->conduit().fail("has not been heard for " + core::time_text(whole));
  peer.driver->flush();
}

void Gateway::State::heard_again(Peer& peer) {
  if (peer.silence.told.count() > 0) tell_silence(peer, true);
  peer.silence = {};
  for (const std::size_t index : carried(peer)) {
    net::ControlBody body;
    body.what = net::ControlBody::What::Heard;
    body.cluster = index;
    tell_processes(body);
  }
}

void Gateway::State::tell_silence(Peer& peer, bool over) {
  peer.silence.told = peer.silence.length;
  if (!events.silence) return;
  const core::Time patience = peer.driver->conduit().config().patience;
  events.silence({config.node, peer.node, peer.silence.length, in_ms(patience), over});
}

}  // namespace isthmus::daemon
