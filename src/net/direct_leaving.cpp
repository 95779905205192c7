// A process leaves its direct conduits after all frames have arrived, and others do not wait for
// it.
#include <algorithm>

#include "net/direct.hpp"

namespace isthmus::net {

void Direct::bye() {
  leaving_ = true;
  for (const auto& [node, peer] : peers_) {
    if (peer->driver) peer->driver->conduit().bye();
  }
}

bool Direct::flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [this](const auto& entry) {
    const Peer& peer = *entry.second;
    if (!peer.driver || peer.driver->closed() || peer.driver->conduit().flushed()) return true;
    // It has gone, and needs nothing more. A process of this host may go without a Bye: one whose
    // conduit came to stand while it left.
    const bool gone = peer.has_ended || (leaving_ && link_to(peer.node)->shm);
    return gone && peer.driver->streams() == 0;
  });
}

bool Direct::arrived() const {
  return std::all_of(peers_.begin(), peers_.end(), [this](const auto& entry) {
    const Peer& peer = *entry.second;
    return !peer.driver || peer.has_ended || peer.driver->closed() || link_to(peer.node)->shm ||
           peer.driver->conduit().flushed();
  });
}

void Direct::close() {
  closed_ = true;
  if (listener_) listener_->close();
  for (const auto& [node, peer] : peers_) {
    if (peer->driver) peer->driver->close();
  }
  for (const auto& [cluster, pacer] : pacers_) pacer->close();
}

}  // namespace isthmus::net
