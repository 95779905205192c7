// What happens when the link to another gateway is lost for good, but the grid has other ways.
//
// The gateway tells its processes and neighbours which clusters it does not reach any more, and
// sends what it has for those back to where it came from (kReturned): a gateway on the way that
// knows another way, or else the source itself, sends it again (kRepeated). What was on the link
// may have arrived, so receivers drop what comes twice.
//
// Where a cluster has several gateways, all keep what they pass on, and so do its sources, until
// the destination has it (core/conduit.hpp, "Custody"): a gateway that dies takes nothing with it.
#include <algorithm>
#include <utility>

#include "daemon/gateway/gateway_state.hpp"

namespace isthmus::daemon {

using net::ControlBody;

// False: there is no other way, and the job is over.
bool Gateway::State::give_up(Peer& peer, const std::string& sentence) {
  if (!ready || faulted) return false;  // news of who has joined may have been lost
  for (const std::size_t index : carried(peer)) {
    if (!lose_way(index, sentence, peer.silence.elsewhere.contains(index))) return false;
  }
  if (events.warning) events.warning(sentence + "; what it carried goes other ways");
  salvage(peer);
  flush();
  return true;
}

// Another gateway, of the cluster that the way to this one leads through now; kNobody: none.
// `heard`: not one whose link is silent.
core::NodeId Gateway::State::other_way(std::size_t index, bool heard) const {
  const std::size_t through = world->cluster_of_node(next.at(index));
  for (const auto& [node, peer] : peers) {
    if (!core::is_gateway(node) || peer->left || peer->driver->closed()) continue;
    if (heard && (peer->silence.begun || !peer->driver->conduit().connected())) continue;
    if (node != next.at(index) && world->cluster_of_node(node) == through &&
        !lost_there.contains({node, index})) {
      return node;
    }
  }
  return core::kNobody;
}

// Gateways of this cluster.
std::size_t Gateway::State::fellows() const {
  return static_cast<std::size_t>(
      std::count_if(world->gateways.begin(), world->gateways.end(),
                    [this](const core::Gateway& gateway) { return gateway.cluster == cluster; }));
}

// The way to a cluster is lost; `elsewhere`: a process says that another gateway reaches it. False:
// and with it the grid, as nobody here has another.
bool Gateway::State::lose_way(std::size_t index, const std::string& sentence, bool elsewhere) {
  core::NodeId other = other_way(index, true);
  if (other == core::kNobody && !elsewhere) other = other_way(index, false);
  if (other != core::kNobody) {
    next[index] = other;
    return true;
  }
  if (fellows() == 1) return false;
  unreachable.emplace(index, sentence);
  ControlBody body;
  body.what = ControlBody::What::Lost;
  body.cluster = index;
  body.message = sentence;
  spread(body, config.node);
  return true;
}

void Gateway::State::learn_lost(Peer& from, const ControlBody& body) {
  if (!world || body.cluster >= world->clusters.size() || body.cluster == cluster) return;
  lost_there.emplace(from.node, body.cluster);
  const auto way = next.find(body.cluster);
  if (way == next.end() || way->second != from.node || unreachable.contains(body.cluster)) return;
  if (!lose_way(body.cluster, body.message, false)) fault(body.message);
}

// What was to go over the link goes elsewhere.
void Gateway::State::salvage(Peer& peer) {
  std::string trouble;
  peer.driver->conduit().salvage([&](const core::InFrame& frame) {
    core::InFrame again = frame;
    std::uint16_t hops = core::kMaxHops;
    if (again.flags == 0) again.flags = core::kRepeated;  // where the new way begins here
    ++redirected;
    const PeerPtr to = redirect(peer.node, again, hops, trouble);
    // It has been consumed: nobody's window is charged for it any more.
    if (to) pass_on(*to, core::kNobody, again, hops);
  });
  const auto held = std::exchange(peer.held, {});
  peer.turns.clear();
  for (const auto& [node, queue] : held) {
    const auto from = peers.find(node);
    for (const Held& frame : queue) {
      core::InFrame again{.kind = frame.kind,
                          .source = frame.source,
                          .destination = frame.destination,
                          .body = frame.body,
                          .flags = frame.flags,
                          .receipt = frame.receipt};
      std::uint16_t hops = core::kMaxHops;
      ++redirected;
      const PeerPtr to = redirect(node, again, hops, trouble);
      if (to && !pass_on(*to, node, again, hops)) continue;
      if (from == peers.end()) continue;
      from->second->driver->conduit().consume(frame.body.size());
      flush_later(*from->second);
    }
  }
  if (!trouble.empty()) fault(trouble);
}

// The next hop of a frame where ways have been lost; sets its flags by what becomes of it.
Gateway::State::PeerPtr Gateway::State::redirect(core::NodeId from, core::InFrame& frame,
                                                 std::uint16_t& hops, std::string& trouble) const {
  const auto reached = [&](core::NodeId process) {
    return !world || process >= static_cast<core::NodeId>(world->size()) ||
           !unreachable.contains(world->cluster_of(static_cast<int>(process)));
  };
  const bool returned = (frame.flags & core::kReturned) != 0;
  if (reached(frame.destination)) {
    PeerPtr to = next_hop(frame.destination, trouble);
    if (!returned || !to) return to;
    if (to->node != from) {
      frame.flags = core::kRepeated;
      return to;
    }
  }
  if (!reached(frame.source)) {
    trouble = unreachable.at(world->cluster_of(static_cast<int>(frame.source)));
    return nullptr;
  }
  if (!returned) hops = core::kMaxHops;
  frame.flags = core::kReturned;
  return next_hop(frame.source, trouble);
}

}  // namespace isthmus::daemon
