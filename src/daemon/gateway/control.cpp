#include "daemon/gateway/control.hpp"

#include <algorithm>

namespace isthmus::daemon {

namespace control = net::control;

namespace {

constexpr std::size_t kMostParted = 4096;  // more runs than ever meet one

}  // namespace

void Control::take(Peer& from, const core::InFrame& frame) {
  if (gateway_.router.forgotten(from.node)) return;  // its end must not be that of the others
  if (const auto share = net::decode_share(frame.body)) {
    if (from.is_process()) sharing_.learn(from.node, *share);
    return;
  }
  const auto body = net::decode_control(frame.body);
  if (!body) return;
  std::visit([&](const auto& news) { learn(from, news); }, *body);
}

void Control::learn(Peer& from, const control::Joined& joined) {
  if (!from.is_process()) {
    learn_joined(joined.node, joined.part, from.node);
  } else if (joined.node == from.node) {
    const core::NodeId self = gateway_.config.node;
    if (const auto part = processes_.join(from, joined.host)) learn_joined(self, *part, self);
  }
}

void Control::learn(Peer& from, const control::Link& link) {
  if (!from.is_process()) tuning_.learn(from, link);
}

void Control::learn(Peer& from, const control::Lost& lost) {
  if (from.is_process()) return;
  if (lost.rank < 0) {
    gateway_.router.learn_lost(*from.neighbour, lost.cluster, lost.message);
  } else {
    gateway_.router.learn_cut_off(*from.neighbour, static_cast<core::NodeId>(lost.rank),
                                  lost.message);
  }
}

// A process has lost a gateway, and lives. The news takes any way to that gateway, which else takes
// it for dead: by gateways, and by processes that are connected to several.
void Control::learn(Peer& from, const control::Without& body) {
  const auto& world = gateway_.router.world();
  if (!world || body.rank < 0 || body.rank >= world->size() || !world->gateway(body.gateway) ||
      !without_.emplace(body.rank, body.gateway).second) {
    return;
  }
  if (body.gateway == gateway_.config.node) {
    processes_.goes_on_without(static_cast<core::NodeId>(body.rank));
  } else {
    gateway_.peers.tell_all(body, from.node);
    gateway_.act();
  }
}

void Control::learn(Peer& from, const control::Other& other) {
  if (from.is_process()) gateway_.router.learn_other(other.cluster);
}

void Control::learn(Peer& from, const control::Here& here) {
  if (from.is_process()) gateway_.user->here(here.text);
}

void Control::learn(Peer& from, const control::Ask& ask) {
  if (from.is_process()) gateway_.user->ask(from.node, ask.number, ask.request);
}

void Control::learn(Peer& from, const control::Crossed& crossed) {
  if (from.is_process()) processes_.learn(from, crossed);
}

void Control::learn(Peer& from, const control::Count& all) {
  if (from.is_process()) processes_.learn(from, all);
}

// The ranks that are left of a cluster get errors from the native library, and many programs then
// call MPI_Abort. An abort that has come before a rank is missed was read before the suspicion.
void Control::learn(Peer& from, const control::Abort& abort) {
  if (from.is_process() && gateway_.router.world() &&
      gateway_.suspects(gateway_.router.world()->cluster_of_node(from.node))) {
    return;
  }
  if (!gateway_.fail(abort, abort.message, from.node)) return;
  gateway_.user->abort(abort.rank, abort.code, abort.message);
}

// A process that cannot go on ends its cluster alone, if the run survives that.
void Control::learn(Peer& from, const control::Fault& fault) {
  if (from.is_process() && gateway_.config.survives && gateway_.router.opened()) {
    const std::size_t cluster = gateway_.router.world()->cluster_of_node(from.node);
    return gateway_.suspect(cluster, fault.message);
  }
  if (!gateway_.fail(fault, fault.message, from.node)) return;
  gateway_.user->fault(fault.message, fault.code);
}

void Control::learn_joined(core::NodeId gateway, int part, core::NodeId from) {
  if (!readiness_.learn(gateway, part)) return;
  const auto body = net::encode_control(control::Joined{gateway, part});
  for (auto& [node, peer] : gateway_.peers) {
    if (peer.is_process() || peer.is_junction() || node == from || node == gateway) continue;
    gateway_.peers.tell(peer, core::FrameKind::Control, body);
  }
  check_ready();
  gateway_.act();
}

void Control::learn(Peer& from, const control::Done& done) {
  if (from.is_process() || !readiness_.learn_done(done.gateway)) return;
  gateway_.peers.tell_all_gateways(done, from.node);
  gateway_.act();
}

void Control::agree(core::NodeId gateway) {
  if (!agreed_.insert(gateway).second) return;
  gateway_.peers.tell_all_gateways(control::Agrees{gateway});
  gateway_.act();
}

void Control::learn(Peer& from, const control::Agrees& news) {
  if (from.is_process() || agreed_.size() >= Readiness::kMost ||
      !agreed_.insert(news.gateway).second) {
    return;
  }
  gateway_.peers.tell_all_gateways(news, from.node);
  gateway_.user->agreed(news.gateway);
  gateway_.act();
}

void Control::part(const control::Parted& news) {
  gateway_.peers.tell_processes(news);
  if (alone_ && parted_.insert(news.run).second) gateway_.peers.tell_all_gateways(news);
  gateway_.act();
}

// It has no launcher any more, which would say it to all.
void Control::learn(Peer& from, const control::Parted& news) {
  if (from.is_process() || parted_.size() >= kMostParted || !parted_.insert(news.run).second) {
    return;
  }
  gateway_.router.part(news.run);
  gateway_.peers.tell_processes(news);
  gateway_.peers.tell_all_gateways(news, from.node);
  gateway_.act();
}

void Control::check_done() {
  if (!alone_ || all_done_ || gateway_.over()) return;
  const core::NodeId self = gateway_.config.node;
  if (!gateway_.router.clusters().empty() && processes_.all_joined(0) && !presence_.any_inside() &&
      !processes_.any_gone() && readiness_.learn_done(self)) {
    gateway_.peers.tell_all_gateways(control::Done{self});
  }
  if (!deserted() && !readiness_.all_done(*gateway_.router.world())) return look_for_early();
  all_done_ = true;
  gateway_.user->all_done();
}

// Clusters that only this gateway connects do not hear of each other's end elsewhere.
void Control::look_for_early() {
  if (!gateway_.router.clusters().empty()) return;
  const auto& world = *gateway_.router.world();
  for (const core::Gateway& gateway : world.gateways) {
    const Peer* const peer = gateway_.peers.find(gateway.node);
    if (peer == nullptr || !peer->neighbour->left) continue;
    for (const std::size_t cluster : gateway.clusters) {
      if (readiness_.done(world, cluster)) continue;
      gateway_.suspect(
          cluster, gateway_.name(gateway.node) + " has closed while the program was still running");
    }
  }
}

bool Control::deserted() const {
  return !presence_.any_inside() && std::ranges::none_of(gateway_.peers, [](const auto& entry) {
    const Peer& peer = entry.second;
    return !peer.is_process() && !peer.is_junction() && peer.open();
  });
}

void Control::check_ready() {
  const auto& world = gateway_.router.world();
  if (!world) return;
  for (const int part : readiness_.take_ready(*world, gateway_.router.clusters(), presence_)) {
    processes_.begin(part);
    if (part == 0) gateway_.router.open();
  }
}

}  // namespace isthmus::daemon
