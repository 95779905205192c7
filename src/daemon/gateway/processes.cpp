#include "daemon/gateway/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "daemon/log/log.hpp"
#include "net/host/software.hpp"
#include "net/stream/last_words.hpp"

namespace isthmus::daemon {

std::optional<std::string> Processes::objection(const net::Listener::Newcomer& newcomer) const {
  const core::NodeId node = newcomer.node;
  const bool by_ucx = newcomer.stream->leg() == net::Stream::Leg::Ucx;
  const auto& world = gateway_.router.world();
  if (!world) return "the gateway has not been told about the grid yet";
  const core::Gateway* const self = world->gateway(gateway_.config.node);
  if (node >= static_cast<core::NodeId>(world->size()) || self == nullptr ||
      !self->serves(world->cluster_of_node(node))) {
    return fmt::format("{} is not of {}", world->rank_name(node),
                       core::quoted_clusters(*world, gateway_.router.clusters()));
  }
  const core::Cluster& cluster = world->clusters[world->cluster_of_node(node)];
  if (gateway_.router.forgotten(node)) {
    return fmt::format("cluster \"{}\" has failed, and the run goes on without it", cluster.name);
  }
  if (by_ucx && cluster.net == core::Net::Tcp) {
    return "the grid file does not let processes of this cluster use UCX";
  }
  if (newcomer.exposed && !by_ucx && cluster.encrypt) {
    return fmt::format(
        "serves only encrypted connections of this cluster's processes; `encrypt` of [cluster.{}] "
        "must be the same on both sides",
        cluster.name);
  }
  const Peer* const known = gateway_.peers.find(node);
  if (known == nullptr) return std::nullopt;
  if (known->conduit().peer_session() != newcomer.session) {
    return world->rank_name(node) + " has joined already";
  }
  if (known->driver->closed()) return "has given up this connection";
  return std::nullopt;
}

void Processes::welcome(net::Listener::Newcomer newcomer) {
  Peer* const known = gateway_.peers.find(newcomer.node);
  Peer& peer = known != nullptr ? *known : add(newcomer);
  peer.came_by(newcomer);
  log::debug("{} connects from {}", gateway_.name(peer.node), peer.where);
  processes_[peer.node].reconnect.reset();
  peer.driver->replace(std::move(newcomer.stream), newcomer.read);
}

Peer& Processes::add(const net::Listener::Newcomer& newcomer) {
  core::ConduitConfig settings = gateway_.peers.settings(newcomer.node);
  settings.patience = newcomer.is_unix ? core::Time::zero() : core::Time(net::kProcessPatience);
  settings.stream_timeout = net::kProcessPatience;
  return gateway_.peers.add(newcomer.node, std::move(settings), *this);
}

std::size_t Processes::cluster_of(const Peer& process) const {
  return gateway_.router.world()->cluster_of_node(process.node);
}

std::optional<int> Processes::join(Peer& peer, const std::string& host) {
  processes_[peer.node].host = host;
  if (std::exchange(processes_[peer.node].joined, true)) return {};
  const core::Cluster& cluster = gateway_.router.world()->clusters[cluster_of(peer)];
  const int number = presence_.join(cluster_of(peer));
  log::debug("{} has joined, of this cluster number {}", gateway_.name(peer.node), number);
  if (number == cluster.size) gateway_.user->joined(cluster.name, cluster.size);
  // Sends growths that the process missed: it was started before.
  for (const core::Growth& growth : growths_) {
    gateway_.peers.tell(peer, net::control::Grown{core::growth_to_json(growth)});
  }
  for (const net::control::Failed& failure : failures_) gateway_.peers.tell(peer, failure);
  for (const net::control::Spare& news : spares_) gateway_.peers.tell(peer, news);
  return all_joined(cluster.part) ? std::optional(cluster.part) : std::nullopt;
}

bool Processes::all_joined(int part) const {
  const auto& world = gateway_.router.world();
  return world && presence_.all_joined(*world, gateway_.router.clusters(), part);
}

void Processes::begin(int part) {
  for (auto& [node, peer] : gateway_.peers) {
    if (!peer.is_process()) continue;
    if (gateway_.router.world()->clusters[cluster_of(peer)].part != part) continue;
    gateway_.peers.tell(peer, core::FrameKind::Ready, {});
  }
}

void Processes::grow(const core::Growth& growth) {
  growths_.push_back(growth);
  gateway_.peers.tell_processes(net::control::Grown{core::growth_to_json(growth)});
}

void Processes::forget(std::size_t cluster, const std::string& why) {
  presence_.forget(cluster);
  for (auto& [node, peer] : gateway_.peers) {
    if (!peer.is_process() || cluster_of(peer) != cluster) continue;
    processes_[node].reconnect.reset();
    sharing_.forget(node);
    peer.driver->close();
  }
  failures_.push_back({cluster, why});
  gateway_.peers.tell_processes(failures_.back());
}

void Processes::tell(const net::control::Spare& news) {
  const auto same = [&news](const net::control::Spare& one) { return one.number == news.number; };
  if (std::ranges::any_of(spares_, same)) return;
  spares_.push_back(news);
  gateway_.peers.tell_processes(news);
}

bool Processes::answer(core::NodeId process, std::uint64_t number, const std::string& reply) {
  Peer* const peer = gateway_.peers.find(process);
  if (peer == nullptr || !peer->open() || peer->neighbour->gone) return false;
  gateway_.peers.tell(*peer, net::control::Answer{number, reply});
  gateway_.act();
  return true;
}

void Processes::connected(Peer& /*peer*/) {}

void Processes::lost(Peer& peer, const net::Loss& loss) {
  Process& process = processes_[peer.node];
  const std::string name = gateway_.name(peer.node);
  const std::string ended = fmt::format("{} ended without MPI_Finalize or was killed{}", name,
                                        process.host.empty() ? "" : " on " + process.host);
  if (process.joined && loss.by_peer) presence_.die(cluster_of(peer), ended);
  if (gateway_.closing) return gateway_.check_closed();
  log::debug("a stream of {} has ended: {}", name, loss.reason);
  // On one host a connection ends with its process. So it may between hosts, or the network has cut
  // it; then the process connects again. Its abort, if it called that, arrived before.
  const bool same_host = peer.conduit().config().patience == core::Time::zero();
  const std::string sentence =
      loss.by_peer ? ended : fmt::format("the connection of {} is lost: {}", name, loss.reason);
  if (!process.joined || same_host) {
    suspect(peer, sentence);
  } else if (loss.by_peer) {
    await_reconnect(peer, sentence);
  } else {
    process.last_failure = loss.reason;  // its patience lasts
  }
}

// When a rank aborts, its native launcher ends the others. The abort may have come and not be read
// yet, since it has another connection.
void Processes::suspect(const Peer& peer, const std::string& sentence) {
  asio::post(gateway_.io, gateway_.guarded([this, sentence, cluster = cluster_of(peer)] {
    if (gateway_.over()) return;
    gateway_.peers.read_come();
    gateway_.act();
    if (!gateway_.over()) gateway_.suspect(cluster, sentence);
  }));
}

void Processes::await_reconnect(const Peer& peer, const std::string& sentence) {
  auto& timer = processes_[peer.node].reconnect;
  timer = std::make_unique<asio::steady_timer>(
      gateway_.io, gateway_.config.survives ? net::kAwaitReconnectOrGoOn : net::kAwaitReconnect);
  timer->async_wait(
      gateway_.guarded([this, sentence, cluster = cluster_of(peer)](const std::error_code& error) {
        if (!error && !gateway_.closing) gateway_.suspect(cluster, sentence);
      }));
}

void Processes::ended(Peer& peer) {
  log::debug("{} has left", gateway_.name(peer.node));
  sharing_.forget(peer.node);
  gateway_.router.left(*peer.neighbour);
  if (processes_[peer.node].joined) presence_.leave(cluster_of(peer));
  gateway_.act();
  if (gateway_.closing) gateway_.check_closed();
}

void Processes::dead(Peer& peer, const std::string& reason) {
  if (gateway_.closing) return gateway_.check_closed();
  sharing_.forget(peer.node);
  if (peer.neighbour->left || gateway_.faulted) return;
  const Process& process = processes_[peer.node];
  std::string sentence =
      fmt::format("the connection of {} is lost: it {}", gateway_.name(peer.node), reason);
  if (!process.last_failure.empty()) {
    sentence += "; the last that was heard of it: " + process.last_failure;
  }
  if (process.joined) presence_.leave(cluster_of(peer));
  // One process that goes on without this gateway is named, the others follow it.
  const bool gone_on = reason == net::kGoneOn;
  gateway_.router.lost(*peer.neighbour, sentence, gone_on && std::exchange(told_gone_on_, true));
  gateway_.act();
  if (gone_on && !gateway_.faulted && all_gone()) gateway_.user->abandoned();
}

// They go on without this gateway.
bool Processes::all_gone() const {
  return std::none_of(gateway_.peers.begin(), gateway_.peers.end(), [](const auto& entry) {
    return entry.second.is_process() && !entry.second.neighbour->gone;
  });
}

bool Processes::any_gone() const {
  return std::any_of(gateway_.peers.begin(), gateway_.peers.end(), [this](const auto& entry) {
    const auto& [node, peer] = entry;
    return peer.is_process() && peer.neighbour->gone && !gateway_.router.forgotten(node) &&
           !ended_.contains(cluster_of(peer));
  });
}

void Processes::goes_on_without(core::NodeId process) {
  Peer* const peer = gateway_.peers.find(process);
  if (peer == nullptr || peer->neighbour->left || peer->neighbour->gone) return;
  processes_[process].reconnect.reset();
  peer->conduit().fail(net::kGoneOn);
  peer->driver->close();
  dead(*peer, peer->conduit().dead());
}

// ---- what they count --------------------------------------------------------------------------

void Processes::ask_crossed() {
  const auto bytes = net::encode_control(net::control::Count{});
  for (auto& [node, process] : processes_) {
    Peer* const peer = gateway_.peers.find(node);
    if (!process.joined || !peer->open() || std::exchange(process.counts, true)) continue;
    gateway_.peers.tell(*peer, core::FrameKind::Control, bytes);
  }
  gateway_.act();
}

void Processes::learn(Peer& process, const net::control::Crossed& body) {
  const auto& world = gateway_.router.world();
  if (!world || body.cluster >= world->clusters.size()) return;
  processes_[process.node].crossed[body.cluster] += body.count;
}

void Processes::learn(Peer& process, const net::control::Count& /*all*/) {
  processes_[process.node].counts = false;
}

Gateway::Crossed Processes::crossed(bool only_of_left) const {
  Gateway::Crossed sums;
  for (const auto& [node, process] : processes_) {
    const Peer* const peer = gateway_.peers.find(node);
    if (process.crossed.empty() || (only_of_left && !peer->neighbour->left)) continue;
    for (const auto& [to, count] : process.crossed) sums[{cluster_of(*peer), to}] += count;
  }
  return sums;
}

std::map<std::size_t, NearCount> Processes::near() const {
  std::map<std::size_t, NearCount> near;
  for (const auto& [node, peer] : gateway_.peers) {
    if (!peer.is_process()) continue;
    NearCount& count = near[cluster_of(peer)];
    ++count.processes;
    if (peer.leg == net::Stream::Leg::Ucx) ++count.ucx;
    if (peer.leg == net::Stream::Leg::Memory) ++count.memory;
    if (peer.exposed && peer.leg != net::Stream::Leg::Ucx) ++count.plain;
    count.messages += peer.neighbour->messages;
    count.bytes += peer.neighbour->bytes;
    count.wire_bytes += peer.conduit().counts().wire_bytes;
  }
  return near;
}

}  // namespace isthmus::daemon
