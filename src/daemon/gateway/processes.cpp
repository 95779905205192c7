// The processes and fellow gateways of a gateway, as they come and go.
#include <algorithm>
#include <utility>

#include "daemon/gateway/state.hpp"
#include "daemon/log/log.hpp"
#include "net/listener.hpp"
#include "net/software.hpp"

namespace isthmus::daemon {

std::string Gateway::State::name(core::NodeId node) const {
  if (router.world()) return router.world()->name_of(node);
  const bool mine = node == config.node || !core::is_gateway(node);
  const std::string of = "cluster \"" + config.cluster + "\"";
  if (!mine) return "gateway " + std::to_string(node - core::kFirstGateway);
  if (node == config.node) return "the gateway of " + of;
  return "rank " + std::to_string(node) + " (" + of + ")";
}

// Why a newcomer cannot be served; empty if it can.
std::string Gateway::State::objection(const net::Listener::Newcomer& newcomer) const {
  const core::NodeId node = newcomer.node;
  const bool by_ucx = newcomer.stream->leg() == net::Stream::Leg::Ucx;
  if (faulted) return "the job has failed already";
  if (closing) return "the job is over";
  const auto known = peers.find(node);
  const auto& world = router.world();
  if (core::is_gateway(node)) {
    if (node == config.node) return "this is gateway " + std::to_string(node) + " itself";
    if (world && world->gateway(node) == nullptr) {
      return "gateway " + std::to_string(node - core::kFirstGateway) + " is not of this grid";
    }
    if (known != peers.end() && known->second->neighbour->left)
      return "it has said goodbye already";
    if (known != peers.end() && known->second->driver->closed()) return "has given up this link";
    if (by_ucx && !config.accept_plain) return "has no link without encryption, as UCX needs it";
    if (newcomer.exposed && !config.accept_plain) {
      return "serves only encrypted connections of gateways; `encrypt` of the [[link]] must be the "
             "same on both sides";
    }
    return {};
  }
  if (!world) return "the gateway has not been told about the grid yet";
  const core::Gateway* const self = world->gateway(config.node);
  if (node >= static_cast<core::NodeId>(world->size()) || self == nullptr ||
      !self->serves(world->cluster_of_node(node))) {
    return world->rank_name(node) + " is not of " +
           core::quoted_clusters(*world, router.clusters());
  }
  const core::Cluster& cluster = world->clusters[world->cluster_of_node(node)];
  if (by_ucx && cluster.net == core::Net::Tcp) {
    return "the grid file does not let processes of this cluster use UCX";
  }
  if (newcomer.exposed && !by_ucx && cluster.encrypt) {
    return "serves only encrypted connections of this cluster's processes; `encrypt` of [cluster." +
           cluster.name + "] must be the same on both sides";
  }
  if (known == peers.end()) return {};
  if (known->second->driver->conduit().peer_session() != newcomer.session) {
    return world->rank_name(node) + " has joined already";
  }
  if (known->second->driver->closed()) return "has given up this connection";
  return {};
}

void Gateway::State::welcome(net::Listener::Newcomer newcomer) {
  if (closed) return;
  if (config.anew && !router.world()) {
    early.push_back(std::move(newcomer));
    return;
  }
  if (stale(newcomer)) {
    net::tell_anew(newcomer.stream, config.node, newcomer.node);
    return;
  }
  if (const auto reason = objection(newcomer); !reason.empty()) {
    net::refuse(newcomer.stream, config.node, newcomer.node, reason);
    if (events.rejected) events.rejected(newcomer.stream->where() + ": " + reason);
    return;
  }
  const auto known = peers.find(newcomer.node);
  const PeerPtr peer =
      known == peers.end() ? add_peer(newcomer.node, newcomer.is_unix) : known->second;
  peer->where = newcomer.stream->where();
  peer->leg = newcomer.stream->leg();
  peer->exposed = newcomer.exposed;
  log::debug("{} connects from {}", name(newcomer.node), peer->where);
  if (core::is_gateway(peer->node)) {
    peer->driver->attach(std::move(newcomer.stream), newcomer.read);
  } else {
    peer->reconnect.reset();
    peer->driver->replace(std::move(newcomer.stream), newcomer.read);
  }
}

Gateway::State::PeerPtr Gateway::State::add_peer(core::NodeId node, bool is_unix) {
  auto peer = std::make_shared<Peer>();
  peer->node = node;
  peer->driver = make_driver(*peer, is_unix);
  peer->neighbour = &router.add(node, peer->driver->conduit());
  peers[node] = peer;
  if (core::is_gateway(node)) {
    tell_what_is_known(*peer);
    plan_tuning();
  }
  return peer;
}

// Sends a fellow gateway the news that it has missed.
void Gateway::State::tell_what_is_known(Peer& peer) {
  for (const auto& [gateway, part] : full) {
    tell(peer, net::control::Joined{gateway, part});
  }
}

std::shared_ptr<net::ConduitDriver> Gateway::State::make_driver(Peer& peer, bool is_unix) {
  const core::NodeId node = peer.node;
  core::ConduitConfig settings;
  settings.self = config.node;
  settings.peer = node;
  settings.session = net::random_session();
  settings.software = net::software();
  if (core::is_gateway(node)) {
    settings.patience = config.patience;
    const auto mine = dialled.find(node);
    if (mine != dialled.end() && mine->second.link.patience.count() > 0) {
      settings.patience = mine->second.link.patience;
    }
    settings.buffer = settings.window = config.link_bytes;
    settings.compressor = peer.compressor = std::make_shared<compress::FrameCompressor>();
  } else {
    settings.patience = is_unix ? core::Time::zero() : core::Time(net::kProcessPatience);
    settings.stream_timeout = net::kProcessPatience;
  }
  net::ConduitDriver::Hooks hooks;
  // The driver is the peer's and calls nothing once closed, which happens before the state ends.
  Peer* p = &peer;
  hooks.passes_on = true;
  hooks.frame = [this, p](const core::InFrame& frame, std::uint16_t hops) {
    return take(*p, frame, hops);
  };
  hooks.progress = hooks.room = [this, p] { progress(*p); };
  hooks.connected = [this, p] {
    link_up(p->node);
    stir(*p);
  };
  hooks.lost = [this, p](const net::Loss& loss) { lost(*p, loss); };
  hooks.ended = [this, p] { ended(*p); };
  hooks.dead = [this, p](const std::string& reason) { dead(*p, reason); };
  return std::make_shared<net::ConduitDriver>(io, std::move(settings), std::move(hooks));
}

bool Gateway::State::all_joined(int part) const {
  return router.world() && std::all_of(router.clusters().begin(), router.clusters().end(),
                                       [this, part](std::size_t c) {
                                         const core::Cluster& cluster = router.world()->clusters[c];
                                         if (cluster.part != part) return true;
                                         const auto here = present.find(c);
                                         return here != present.end() &&
                                                here->second.joined == cluster.size;
                                       });
}

bool Gateway::State::any_inside() const {
  return std::any_of(present.begin(), present.end(),
                     [](const auto& here) { return here.second.joined > here.second.left; });
}

bool Gateway::State::all_left() const { return all_joined(0) && !any_inside(); }

Gateway::State::Present& Gateway::State::present_of(const Peer& process) {
  return present[router.world()->cluster_of_node(process.node)];
}

void Gateway::State::process_joined(Peer& peer) {
  if (std::exchange(peer.joined, true)) return;
  const core::Cluster& cluster =
      router.world()->clusters[router.world()->cluster_of_node(peer.node)];
  Present& here = present_of(peer);
  ++here.joined;
  log::debug("{} has joined, of this cluster number {}", name(peer.node), here.joined);
  if (here.joined == cluster.size && events.joined) events.joined(cluster.name);
  // Sends growths that the process missed: it was started before.
  for (const core::Growth& growth : growths) {
    tell(peer, net::control::Grown{core::growth_to_json(growth)});
  }
  if (all_joined(cluster.part)) learn_joined(config.node, cluster.part, config.node);
}

// A stream to the peer is gone.
void Gateway::State::lost(Peer& peer, const net::Loss& loss) {
  if (peer.joined && loss.by_peer) {
    Present& here = present_of(peer);
    if (here.died++ == 0) here.first_died = name(peer.node);
  }
  if (closing) {
    check_closed();
    return;
  }
  log::debug("a stream of {} has ended: {}", name(peer.node), loss.reason);
  if (core::is_gateway(peer.node)) {
    const auto mine = dialled.find(peer.node);
    if (mine != dialled.end()) {
      mine->second.last_failure = loss.reason;
      dial(peer.node);
    }
    return;  // its patience lasts
  }
  // On one host a connection ends with its process. So it may between hosts, or the network has cut
  // it; then the process connects again. Its abort, if it called that, arrived before.
  const bool same_host = peer.driver->conduit().config().patience == core::Time::zero();
  const std::string sentence =
      loss.by_peer ? name(peer.node) + " ended without MPI_Finalize or was killed"
                   : "the connection of " + name(peer.node) + " is lost: " + loss.reason;
  if (same_host || !peer.joined) {
    fault(sentence);
  } else if (loss.by_peer) {
    await_reconnect(peer, sentence);
  } else {
    peer.last_failure = loss.reason;  // its patience lasts
  }
}

void Gateway::State::await_reconnect(Peer& peer, const std::string& sentence) {
  peer.reconnect = std::make_unique<asio::steady_timer>(io, net::kAwaitReconnect);
  peer.reconnect->async_wait([weak = weak_from_this(), sentence](const std::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->closing) self->fault(sentence);
  });
}

void Gateway::State::ended(Peer& peer) {
  log::debug("{} has left", name(peer.node));
  leaves_shares(peer.node);
  router.left(*peer.neighbour);
  act();
  if (closing) {
    check_closed();
    return;
  }
  if (!core::is_gateway(peer.node)) {
    if (peer.joined) ++present_of(peer).left;
    return;
  }
  if (any_inside()) fault(name(peer.node) + " has closed while the program was still running");
}

void Gateway::State::dead(Peer& peer, const std::string& reason) {
  if (closing) {
    check_closed();
    return;
  }
  leaves_shares(peer.node);
  if (peer.neighbour->left || faulted) return;
  if (peer.driver->conduit().peer_anew() && only_forwards(peer.node)) return renew(peer);
  std::string sentence;
  if (core::is_gateway(peer.node)) {
    const auto mine = dialled.find(peer.node);
    sentence = "the link " + link_name(peer.node) + " is lost: the other end " + reason;
    if (mine != dialled.end()) {
      if (!mine->second.last_failure.empty()) {
        sentence += "; the last that was heard of it: " + mine->second.last_failure;
      }
      if (!mine->second.up) links_settled(sentence);
    }
  } else {
    sentence = "the connection of " + name(peer.node) + " is lost: it " + reason;
    if (!peer.last_failure.empty()) {
      sentence += "; the last that was heard of it: " + peer.last_failure;
    }
  }
  if (!core::is_gateway(peer.node) && peer.joined) ++present_of(peer).left;
  // One process that goes on without this gateway is named, the others follow it.
  const bool gone_on = reason == net::kGoneOn;
  router.lost(*peer.neighbour, sentence, gone_on && std::exchange(told_gone_on, true));
  act();
  if (gone_on && !faulted && serves_nobody() && events.abandoned) events.abandoned();
}

// All processes go on without it.
bool Gateway::State::serves_nobody() const {
  return std::none_of(peers.begin(), peers.end(), [](const auto& entry) {
    return !core::is_gateway(entry.first) && !entry.second->neighbour->gone;
  });
}

}  // namespace isthmus::daemon
