// Gateways that serve nobody, such as relays, and are started anew: no process is connected to
// them, and what they carried their neighbours have in custody. So nothing is lost with them that
// cannot go again.
#include <asio/post.hpp>
#include <utility>

#include "daemon/gateway/state.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

bool Gateway::State::only_forwards(core::NodeId node) const {
  if (!core::is_gateway(node) || !router.world()) return false;
  const core::Gateway* const gateway = router.world()->gateway(node);
  return gateway != nullptr && gateway->clusters.empty();
}

// A neighbour goes on with a conduit that it had with the one that was here before.
bool Gateway::State::stale(const net::Listener::Newcomer& newcomer) const {
  if (!config.anew || !core::is_gateway(newcomer.node) || newcomer.resumes == 0) return false;
  const auto known = peers.find(newcomer.node);
  return known == peers.end() ||
         known->second->driver->conduit().config().session != newcomer.resumes;
}

// The other end of a link is there again, and knows nothing of the conduit: another takes its
// place.
void Gateway::State::renew(Peer& peer) {
  log::info("{} was started anew; what it has lost is sent again", name(peer.node));
  const auto before = std::exchange(peer.driver, make_driver(peer, false));
  peer.tuning.last.clear();
  peer.tuning.sampling.stir(net::now());
  peer.told_link = false;
  tell_what_is_known(peer);
  router.renew(*peer.neighbour, peer.driver->conduit());
  asio::post(io, [before] {});  // it may be at work further up
  if (dialled.contains(peer.node)) dial_all(peer.node);
  act();
  plan_tuning();
}

// Frames for them may come before they are connected, and wait in their conduits.
void Gateway::State::expect_neighbours(const core::Routes& next) {
  for (const auto& [cluster, nodes] : next) {
    for (const core::NodeId node : nodes) {
      if (!peers.contains(node)) add_peer(node, false);
    }
  }
}

void Gateway::State::welcome_early() {
  for (auto& newcomer : std::exchange(early, {})) welcome(std::move(newcomer));
}

}  // namespace isthmus::daemon
