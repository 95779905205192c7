// How a gateway forwards frames. A frame whose next conduit is full is kept, charged to the
// window of the conduit it came by. So a slow receiver holds back those who send to it; others
// who share a link with them are held back only once the whole window of that link waits (the
// end-to-end windows of messages keep it from that). Acknowledgements never wait behind data.
#include <algorithm>
#include <utility>

#include "core/message_body.hpp"
#include "daemon/gateway/gateway_state.hpp"

namespace isthmus::daemon {

// True: consumed.
bool Gateway::State::take(Peer& from, const core::InFrame& frame, std::uint16_t hops) {
  if (!core::is_routed(frame.kind)) {
    if (frame.kind == core::FrameKind::Control) control(from, frame);
    return true;
  }
  if (faulted) return true;
  std::string trouble;
  PeerPtr to;
  core::InFrame routed = frame;
  if (!core::is_gateway(from.node) &&
      (frame.source != from.node || (frame.flags & core::kReturned) != 0)) {
    trouble = name(from.node) + " sent in the name of rank " + std::to_string(frame.source);
  } else if (hops == 0) {
    trouble = "the routes go in a circle: a message from rank " + std::to_string(frame.source) +
              " to rank " + std::to_string(frame.destination) + " has crossed " +
              std::to_string(core::kMaxHops) + " conduits";
  } else if (frame.flags == 0 && unreachable.empty()) {
    to = next_hop(frame.destination, trouble);
  } else {
    to = redirect(from.node, routed, hops, trouble);
  }
  if (!trouble.empty()) {
    fault(trouble);
    return true;
  }
  return pass_on(*to, from.node, routed, static_cast<std::uint16_t>(hops - 1));
}

// Whoever keeps the frame for this gateway need do so no longer.
void Gateway::State::settle(const core::Receipt& receipt) {
  if (receipt.from == core::kNobody) return;
  const auto from = peers.find(receipt.from);
  if (from == peers.end() || from->second->driver->closed()) return;
  from->second->driver->conduit().settle(receipt.sequence);
  flush_later(*from->second);
}

void Gateway::State::settle_passed_on(Peer& to) {
  for (const core::Receipt& receipt : to.driver->conduit().take_settled()) settle(receipt);
}

// True: done with. False: kept until there is room.
bool Gateway::State::pass_on(Peer& to, core::NodeId from, const core::InFrame& frame,
                             std::uint16_t hops) {
  if (to.left || to.driver->closed()) {  // credits that come too late
    settle(frame.receipt);
    return true;
  }
  const bool bulk = frame.body.size() > core::kExpressBody;
  if ((!bulk || to.turns.empty()) && to.driver->conduit().can_accept(bulk)) {
    forward(to, frame, hops);
    return true;
  }
  auto& queue = to.held[from];
  if (queue.empty()) to.turns.push_back(from);
  queue.push_back({frame.kind,
                   frame.source,
                   frame.destination,
                   hops,
                   frame.flags,
                   {frame.body.begin(), frame.body.end()},
                   frame.receipt});
  return false;
}

// The neighbour by which a process is reached.
Gateway::State::PeerPtr Gateway::State::next_hop(core::NodeId process, std::string& trouble) const {
  if (!world || process >= static_cast<core::NodeId>(world->size())) {
    trouble = "a message is for rank " + std::to_string(process) + ", which is not of this grid";
    return nullptr;
  }
  const std::size_t index = world->cluster_of(static_cast<int>(process));
  core::NodeId node = process;
  if (index != cluster) {
    const auto route = next.find(index);
    if (route == next.end()) {
      trouble = name(config.node) + " knows no route to cluster \"" + world->clusters[index].name +
                "\"; link the two, or a cluster between them";
      return nullptr;
    }
    node = route->second;
  }
  const auto found = peers.find(node);
  if (found == peers.end()) {
    trouble = name(config.node) + " has no connection to " + name(node);
    return nullptr;
  }
  return found->second;
}

void Gateway::State::forward(Peer& to, const core::InFrame& frame, std::uint16_t hops) {
  to.driver->conduit().forward(frame, hops);
  if (frame.kind == core::FrameKind::Envelope) {
    ++to.messages;
    to.bytes += std::max(frame.body.size(), core::EnvelopeBody::kSize) - core::EnvelopeBody::kSize;
  } else if (frame.kind == core::FrameKind::Piece) {
    to.bytes += std::max(frame.body.size(), core::PieceBody::kSize) - core::PieceBody::kSize;
  }
  flush_later(to);
}

// There may be room towards a peer: one frame from each that waits, in turn.
void Gateway::State::release(Peer& to) {
  while (!to.turns.empty() && to.driver->conduit().can_accept()) {
    const core::NodeId node = to.turns.front();
    to.turns.pop_front();
    auto& queue = to.held[node];
    const Held frame = std::move(queue.front());
    queue.pop_front();
    if (queue.empty()) {
      to.held.erase(node);
    } else {
      to.turns.push_back(node);
    }
    forward(to,
            {.kind = frame.kind,
             .source = frame.source,
             .destination = frame.destination,
             .body = frame.body,
             .flags = frame.flags,
             .receipt = frame.receipt},
            frame.hops);
    const auto from = peers.find(node);
    if (from == peers.end()) continue;
    from->second->driver->conduit().consume(frame.body.size());
    flush_later(*from->second);
  }
}

void Gateway::State::drop_held(Peer& to) {
  for (auto& [node, queue] : to.held) {
    const auto from = peers.find(node);
    if (from == peers.end()) continue;
    for (const auto& frame : queue) {
      from->second->driver->conduit().consume(frame.body.size());
      settle(frame.receipt);
    }
    flush_later(*from->second);
  }
  to.held.clear();
  to.turns.clear();
}

void Gateway::State::flush_later(Peer& peer) {
  if (std::exchange(peer.unflushed, true)) return;
  unflushed.push_back(peers.at(peer.node));
}

void Gateway::State::flush() {
  while (!unflushed.empty()) {
    const PeerPtr peer = std::move(unflushed.back());
    unflushed.pop_back();
    peer->unflushed = false;
    peer->driver->flush();
    settle_passed_on(*peer);
    release(*peer);
  }
}

// Something has been read from a peer: frames for others, and maybe acknowledgements.
void Gateway::State::progress(Peer& peer) {
  settle_passed_on(peer);
  release(peer);
  flush();
  if (closing) check_closed();
}

}  // namespace isthmus::daemon
