// How the processes of a cluster share a link's rate when they send to another cluster without
// gateways. Their gateway hears their claims, and tells each its part (core/shares.hpp).
#include <algorithm>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <memory>

#include "daemon/gateway/state.hpp"

namespace isthmus::daemon {
namespace {

/// Processes hear of a rise of their level only after this time. The processes of an alltoall begin
/// within some milliseconds of each other if they share cores. Each would take back the rise of the
/// one before. A process that begins alone loses a part of its first round trip.
core::Time moment_of(const core::World& world,
                     const std::pair<std::size_t, std::size_t>& clusters) {
  for (const core::Direct& link : world.direct) {
    if (std::minmax(link.a, link.b) != std::minmax(clusters.first, clusters.second)) continue;
    return std::chrono::duration_cast<core::Time>(std::chrono::duration<double>(link.rtt / 4));
  }
  return {};
}

}  // namespace

void Gateway::State::learn_share(core::NodeId from, const net::ShareBody& body) {
  const auto& world = router.world();
  if (!world || body.cluster >= world->clusters.size()) return;
  const std::pair clusters(world->cluster_of_node(from), body.cluster);
  core::Shares& sharing = shares[clusters];
  sharing.claim(from, body.part, net::now());
  tell_shares(clusters, sharing);
  plan_tuning();
}

// The gateway's own traffic over the same link is one more claim, for processes that have no
// conduit.
void Gateway::State::share_rate(Peer& peer) {
  const auto& world = router.world();
  const core::Gateway* const self = world ? world->gateway(config.node) : nullptr;
  const core::Gateway* const other = world ? world->gateway(peer.node) : nullptr;
  if (self == nullptr || other == nullptr) return;
  for (const core::Direct& link : world->direct) {
    if (!link.tcp || link.shm || link.rate <= 0) continue;
    if (self->serves(link.a) && other->serves(link.b)) peer.shared.emplace(link.a, link.b);
    if (self->serves(link.b) && other->serves(link.a)) peer.shared.emplace(link.b, link.a);
    if (!peer.shared) continue;
    const std::chrono::duration<double> round_trip(link.rtt);
    peer.pacer->share_with(1, std::chrono::duration_cast<core::Time>(round_trip),
                           [this, clusters = *peer.shared](double part) {
                             shares[clusters].claim(config.node, part, net::now());
                             asio::post(io, [weak = weak_from_this(), clusters] {
                               const auto state = weak.lock();
                               if (!state || state->closed) return;
                               state->tell_shares(clusters, state->shares[clusters]);
                               state->plan_tuning();
                             });
                           });
    return;
  }
}

void Gateway::State::leaves_shares(core::NodeId node) {
  for (auto& [clusters, sharing] : shares) {
    sharing.forget(node);
    tell_shares(clusters, sharing);
  }
}

void Gateway::State::tick_shares() {
  for (auto& [clusters, sharing] : shares) {
    sharing.tick(net::now());
    tell_shares(clusters, sharing, true);
  }
}

void Gateway::State::tell_rise(const std::pair<std::size_t, std::size_t>& clusters) {
  if (!rising.insert(clusters).second) return;
  const auto timer = std::make_shared<asio::steady_timer>(io, moment_of(*router.world(), clusters));
  timer->async_wait([weak = weak_from_this(), timer, clusters](const std::error_code& error) {
    const auto state = weak.lock();
    if (error || !state || state->closed) return;
    state->rising.erase(clusters);
    state->tell_shares(clusters, state->shares[clusters], true);
  });
}

void Gateway::State::tell_shares(const std::pair<std::size_t, std::size_t>& clusters,
                                 core::Shares& sharing, bool risen) {
  bool told = false;
  for (const core::Shares::News& news : sharing.news(risen)) {
    if (news.member == config.node) {
      for (const auto& [node, peer] : peers) {
        if (peer->shared == clusters) peer->pacer->share(news.level);
      }
      continue;
    }
    const auto found = peers.find(news.member);
    if (found == peers.end() || found->second->neighbour->left || found->second->driver->closed()) {
      continue;
    }
    tell(*found->second, core::FrameKind::Control,
         net::encode_share({clusters.second, news.level}));
    told = true;
  }
  if (sharing.waits()) tell_rise(clusters);
  if (told) act();
}

}  // namespace isthmus::daemon
