// When a way is lost for good, but the grid has others.
//
// The gateway reports to its processes and neighbours which clusters it does not reach any more,
// and sends frames for those back to where they came from (kReturned). A gateway on the way that
// knows another way, or else the source itself, sends them again (kRepeated). Frames on the link
// may have arrived, so receivers drop duplicates.
//
// If a cluster has several gateways, all of them keep the frames that they pass on, and so do the
// sources, until the destination has them (core/conduit.hpp, "Custody"): a gateway that dies takes
// nothing with it.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/router.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {

void Router::lost(Neighbour& neighbour, const std::string& sentence, bool known) {
  neighbour.gone = true;
  // Before all have joined, news of joined processes may have been lost with it.
  if (stopped_ || !opened_) return fail(sentence);
  if (!is_gateway(neighbour.node)) {
    if (!lose_process(neighbour.node, sentence)) return fail(sentence);
  }
  for (const std::size_t index : carried(neighbour)) {
    if (!lose_way(index, sentence, neighbour.silence.elsewhere.contains(index))) {
      return fail(sentence);
    }
  }
  if (!known) {
    say({.what = Action::What::Warn, .sentence = sentence + "; what it carried goes other ways"});
  }
  salvaged_.push_back(&neighbour);
}

// Clusters that are reached by it.
std::vector<std::size_t> Router::carried(const Neighbour& neighbour) const {
  std::vector<std::size_t> clusters;
  for (const auto& [index, nodes] : next_) {
    if (std::find(nodes.begin(), nodes.end(), neighbour.node) != nodes.end() &&
        !lost_there_.contains({neighbour.node, index})) {
      clusters.push_back(index);
    }
  }
  return clusters;
}

// Whether frames for a cluster, or a process of it, may go by it.
bool Router::is_way(const Neighbour& neighbour, std::size_t index, NodeId process) const {
  const auto route = next_.find(index);
  return route != next_.end() && neighbour.open() &&
         std::find(route->second.begin(), route->second.end(), neighbour.node) !=
             route->second.end() &&
         !lost_there_.contains({neighbour.node, index}) &&
         !cut_off_there_.contains({neighbour.node, process});
}

// The best of the present ways to a cluster: one that is heard, with room, and of those the one
// with the smallest backlog; among equals, the first. Null without a way.
Router::Neighbour* Router::way(std::size_t index, NodeId process, bool bulk) const {
  const auto& nodes = next_.at(index);
  if (nodes.size() == 1 && lost_there_.empty() && cut_off_there_.empty())
    return find(nodes.front());
  Neighbour* best = nullptr;
  std::tuple<bool, bool, std::size_t> least;
  for (const NodeId node : nodes) {
    Neighbour* const neighbour = find(node);
    if (neighbour == nullptr || !is_way(*neighbour, index, process)) continue;
    const bool room = neighbour->conduit->can_accept(bulk) && (!bulk || neighbour->turns.empty());
    const std::tuple cost(!neighbour->heard(), !room, neighbour->conduit->backlog());
    if (best == nullptr || cost < least) {
      best = neighbour;
      least = cost;
    }
  }
  return best;
}

bool Router::has_way(std::size_t index, bool heard) const {
  return std::any_of(neighbours_.begin(), neighbours_.end(), [&](const auto& entry) {
    return is_way(*entry.second, index) && (!heard || entry.second->heard());
  });
}

// Its neighbours may have other ways: processes by other gateways of their cluster, gateways.
bool Router::has_fellows() const {
  return clusters_.empty() ||
         std::any_of(world_->gateways.begin(), world_->gateways.end(),
                     [this](const Gateway& gateway) {
                       return gateway.node != config_.self &&
                              std::any_of(clusters_.begin(), clusters_.end(),
                                          [&](std::size_t c) { return gateway.serves(c); });
                     });
}

// A way to a cluster is lost; `elsewhere`: a process reports that another gateway reaches it.
// False: the grid is lost with it, as no other node here has a way.
bool Router::lose_way(std::size_t index, const std::string& sentence, bool elsewhere) {
  if (has_way(index, elsewhere)) return true;
  if (!has_fellows()) return false;
  trace::note<trace::Event::WayLost>(index);
  unreachable_.emplace(index, sentence);
  say({.what = Action::What::Lost, .cluster = index, .sentence = sentence});
  return true;
}

// The way to a process is lost, while others of its cluster are reached. False: the grid is lost
// with it, as no other node has a way.
bool Router::lose_process(NodeId process, const std::string& sentence) {
  const std::size_t index = world_->cluster_of_node(process);
  const auto leads_there = [&](const auto& entry) { return is_way(*entry.second, index, process); };
  if (std::any_of(neighbours_.begin(), neighbours_.end(), leads_there)) return true;
  const auto serving = std::count_if(world_->gateways.begin(), world_->gateways.end(),
                                     [index](const Gateway& g) { return g.serves(index); });
  if (serving < 2 || !has_fellows()) return false;
  if (!cut_off_.emplace(process, sentence).second) return true;
  say({.what = Action::What::Lost, .cluster = index, .process = process, .sentence = sentence});
  return true;
}

void Router::learn_cut_off(Neighbour& from, NodeId process, const std::string& sentence) {
  if (!world_ || process >= static_cast<NodeId>(world_->size())) return;
  const std::size_t index = world_->cluster_of_node(process);
  const auto route = next_.find(index);
  if (serves(index) || route == next_.end()) return;
  const auto& nodes = route->second;
  if (!cut_off_there_.emplace(from.node, process).second ||
      std::find(nodes.begin(), nodes.end(), from.node) == nodes.end()) {
    return;
  }
  if (!lose_process(process, sentence)) fail(sentence);
}

void Router::learn_lost(Neighbour& from, std::size_t index, const std::string& sentence) {
  if (!world_ || index >= world_->clusters.size() || serves(index)) return;
  lost_there_.emplace(from.node, index);
  const auto route = next_.find(index);
  if (route == next_.end() || unreachable_.contains(index)) return;
  const auto& nodes = route->second;
  if (std::find(nodes.begin(), nodes.end(), from.node) == nodes.end()) return;
  if (!lose_way(index, sentence, false)) fail(sentence);
}

// Sends the frames that waited for the link another way.
void Router::salvage(Neighbour& neighbour) {
  if (stopped_) return;
  std::string trouble;
  neighbour.conduit->salvage([&](const InFrame& frame) {
    InFrame again = frame;
    std::uint16_t hops = kMaxHops;
    if (again.flags == 0) again.flags = kRepeated;  // if the new way begins here
    ++redirected_;
    Neighbour* const to = redirect(neighbour.node, again, hops, trouble);
    // It has been consumed: no window is charged for it any more.
    if (to != nullptr) {
      pass_on(*to, kNobody, again, hops);
    } else {
      settle(frame.receipt);
    }
  });
  const auto held = std::exchange(neighbour.held, {});
  neighbour.turns.clear();
  for (const auto& [node, queue] : held) {
    for (const Held& frame : queue) {
      InFrame again = frame.frame();
      std::uint16_t hops = kMaxHops;
      ++redirected_;
      Neighbour* const to = redirect(node, again, hops, trouble);
      if (to == nullptr) settle(frame.receipt);
      if (to == nullptr || pass_on(*to, node, again, hops)) consume(node, frame.body());
    }
  }
  if (!trouble.empty()) fail(trouble);
}

// Nodes that kept frames in custody for it, and for those behind it, have them here. So nothing is
// lost on that account, and the destination drops duplicates.
void Router::renew(Neighbour& neighbour, Conduit& conduit) {
  settle_passed_on(neighbour);
  disown(neighbour.node);
  const Conduit& before = *std::exchange(neighbour.conduit, &conduit);
  if (world_ && world_->has_spare_gateways()) conduit.keep_custody();
  std::erase_if(lost_there_, [&](const auto& lost) { return lost.first == neighbour.node; });
  std::erase_if(cut_off_there_, [&](const auto& lost) { return lost.first == neighbour.node; });
  before.salvage([&](const InFrame& frame) {
    InFrame again = frame;
    if (again.flags == 0) again.flags = kRepeated;
    ++redirected_;
    conduit.forward(again, kMaxHops);
  });
  submitted(neighbour);
}

// No window is charged any more for frames from there that wait for room.
void Router::disown(NodeId node) {
  for (const auto& [to, neighbour] : neighbours_) {
    const auto queue = neighbour->held.find(node);
    if (queue == neighbour->held.end()) continue;
    auto& nobodys = neighbour->held[kNobody];
    if (nobodys.empty()) neighbour->turns.push_back(kNobody);
    std::move(queue->second.begin(), queue->second.end(), std::back_inserter(nobodys));
    neighbour->held.erase(queue);
    std::erase(neighbour->turns, node);
  }
}

// The next hop of a frame after ways have been lost; sets its flags accordingly. Null without
// trouble: this gateway need not send it.
Router::Neighbour* Router::redirect(NodeId from, InFrame& frame, std::uint16_t& hops,
                                    std::string& trouble) {
  const bool bulk = frame.body.size() > kExpressBody;
  const auto index_of = [this](NodeId process) {
    return world_ && process < static_cast<NodeId>(world_->size())
               ? world_->cluster_of(static_cast<int>(process))
               : SIZE_MAX;
  };
  const auto reached = [&](NodeId process) {
    return !unreachable_.contains(index_of(process)) && !cut_off_.contains(process);
  };
  const bool returned = (frame.flags & kReturned) != 0;
  if (reached(frame.destination)) {
    // A frame comes back by a way that it should take: its sender does not reach the destination
    // any more. It will report that, but with several streams the report may come later.
    const auto route = next_.find(index_of(frame.destination));
    if (returned && is_gateway(from) && route != next_.end() &&
        std::find(route->second.begin(), route->second.end(), from) != route->second.end()) {
      cut_off_there_.emplace(from, frame.destination);
    }
    Neighbour* const to = next_hop(frame.destination, bulk, trouble);
    if (!trouble.empty()) return nullptr;
    if (to != nullptr && !returned) return to;
    if (to != nullptr && to->node != from) {
      frame.flags = kRepeated;
      return to;
    }
  }
  if (!reached(frame.source)) {
    const auto found = unreachable_.find(index_of(frame.source));
    // A process that is cut off has the frame in custody, and sends it again by another gateway.
    if (found != unreachable_.end()) trouble = found->second;
    return nullptr;
  }
  if (!returned) hops = kMaxHops;
  frame.flags = kReturned;
  Neighbour* const back = next_hop(frame.source, bulk, trouble);
  if (back == nullptr && trouble.empty()) trouble = name(frame.source) + " is not reached any more";
  return back;
}

}  // namespace isthmus::core
