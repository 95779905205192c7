#include "daemon/gateway/sharing.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>

namespace isthmus::daemon {

/// Processes hear of a rise of their level only after this time. The processes of an alltoall begin
/// within some milliseconds of each other if they share cores. Each would take back the rise of the
/// one before. A process that begins alone loses a part of its first round trip.
core::Time Sharing::moment_of(const Clusters& clusters) const {
  for (const core::Direct& link : gateway_.router.world()->direct) {
    if (std::minmax(link.a, link.b) != std::minmax(clusters.first, clusters.second)) continue;
    return std::chrono::duration_cast<core::Time>(std::chrono::duration<double>(link.rtt / 4));
  }
  return {};
}

void Sharing::learn(core::NodeId process, const net::ShareBody& body) {
  const auto& world = gateway_.router.world();
  if (!world || body.cluster >= world->clusters.size()) return;
  const Clusters clusters(world->cluster_of_node(process), body.cluster);
  core::Shares& shares = shares_[clusters];
  shares.claim(process, body.part, net::now());
  tell(clusters, shares);
  gateway_.plan_tuning();
}

void Sharing::share(const Peer& peer, const std::shared_ptr<net::Pacer>& pacer) {
  const auto& world = gateway_.router.world();
  const core::Gateway* const self = world ? world->gateway(gateway_.config.node) : nullptr;
  const core::Gateway* const other = world ? world->gateway(peer.node) : nullptr;
  if (self == nullptr || other == nullptr) return;
  for (const core::Direct& link : world->direct) {
    if (!link.tcp || link.shm || link.rate <= 0) continue;
    Clusters clusters;
    if (self->serves(link.b) && other->serves(link.a)) {
      clusters = {link.b, link.a};
    } else if (self->serves(link.a) && other->serves(link.b)) {
      clusters = {link.a, link.b};
    } else {
      continue;
    }
    own_[peer.node] = {clusters, pacer};
    const std::chrono::duration<double> round_trip(link.rtt);
    pacer->share_with(1, std::chrono::duration_cast<core::Time>(round_trip),
                      [this, clusters](double part) {
                        shares_[clusters].claim(gateway_.config.node, part, net::now());
                        asio::post(gateway_.io, gateway_.guarded([this, clusters] {
                          if (gateway_.closed) return;
                          tell(clusters, shares_[clusters]);
                          gateway_.plan_tuning();
                        }));
                      });
    return;
  }
}

void Sharing::forget(core::NodeId node) {
  for (auto& [clusters, shares] : shares_) {
    shares.forget(node);
    tell(clusters, shares);
  }
}

bool Sharing::active() const {
  return std::any_of(shares_.begin(), shares_.end(),
                     [](const auto& entry) { return entry.second.size() > 0; });
}

void Sharing::tick() {
  for (auto& [clusters, shares] : shares_) {
    shares.tick(net::now());
    tell(clusters, shares, true);
  }
}

void Sharing::tell_rise(const Clusters& clusters) {
  if (!rising_.insert(clusters).second) return;
  const auto timer = std::make_shared<asio::steady_timer>(gateway_.io, moment_of(clusters));
  timer->async_wait(gateway_.guarded([this, timer, clusters](const std::error_code& error) {
    if (error || gateway_.closed) return;
    rising_.erase(clusters);
    tell(clusters, shares_[clusters], true);
  }));
}

void Sharing::tell(const Clusters& clusters, core::Shares& shares, bool risen) {
  bool told = false;
  for (const core::Shares::News& news : shares.news(risen)) {
    if (news.member == gateway_.config.node) {
      for (const auto& [node, own] : own_) {
        if (own.clusters == clusters) own.pacer->share(news.level);
      }
      continue;
    }
    Peer* const member = gateway_.peers.find(news.member);
    if (member == nullptr || !member->open()) continue;
    gateway_.peers.tell(*member, core::FrameKind::Control,
                        net::encode_share({clusters.second, news.level}));
    told = true;
  }
  if (shares.waits()) tell_rise(clusters);
  if (told) gateway_.act();
}

}  // namespace isthmus::daemon
