// What happens when a way is lost for good, but the grid has others.
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

#include "core/router.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {

void Router::lost(Neighbour& neighbour, const std::string& sentence) {
  neighbour.gone = true;
  // Before all have joined, news of who has may have been lost with it.
  if (stopped_ || !opened_ || !is_gateway(neighbour.node)) return fail(sentence);
  for (const std::size_t index : carried(neighbour)) {
    if (!lose_way(index, sentence, neighbour.silence.elsewhere.contains(index))) {
      return fail(sentence);
    }
  }
  say({.what = Action::What::Warn, .sentence = sentence + "; what it carried goes other ways"});
  salvaged_.push_back(&neighbour);
}

// Clusters that are reached by it.
std::vector<std::size_t> Router::carried(const Neighbour& neighbour) const {
  std::vector<std::size_t> clusters;
  for (const auto& [index, node] : next_) {
    if (node == neighbour.node) clusters.push_back(index);
  }
  return clusters;
}

// Another gateway, of the cluster that the way to this one leads through now; kNobody: none.
// `heard`: not one whose link is silent.
NodeId Router::other_way(std::size_t index, bool heard) const {
  const std::size_t through = world_->cluster_of_node(next_.at(index));
  for (const auto& [node, neighbour] : neighbours_) {
    if (!is_gateway(node) || !neighbour->open()) continue;
    if (heard && (neighbour->silence.begun || !neighbour->conduit->connected())) continue;
    if (node != next_.at(index) && world_->cluster_of_node(node) == through &&
        !lost_there_.contains({node, index})) {
      return node;
    }
  }
  return kNobody;
}

// Gateways of this cluster.
std::size_t Router::fellows() const {
  return static_cast<std::size_t>(
      std::count_if(world_->gateways.begin(), world_->gateways.end(),
                    [this](const Gateway& gateway) { return gateway.cluster == cluster_; }));
}

// The way to a cluster is lost; `elsewhere`: a process says that another gateway reaches it. False:
// and with it the grid, as nobody here has another.
bool Router::lose_way(std::size_t index, const std::string& sentence, bool elsewhere) {
  NodeId other = other_way(index, true);
  if (other == kNobody && !elsewhere) other = other_way(index, false);
  if (other != kNobody) {
    next_[index] = other;
    return true;
  }
  if (fellows() == 1) return false;
  trace::note<trace::Event::WayLost>(index);
  unreachable_.emplace(index, sentence);
  say({.what = Action::What::Lost, .cluster = index, .sentence = sentence});
  return true;
}

void Router::learn_lost(Neighbour& from, std::size_t index, const std::string& sentence) {
  if (!world_ || index >= world_->clusters.size() || index == cluster_) return;
  lost_there_.emplace(from.node, index);
  const auto way = next_.find(index);
  if (way == next_.end() || way->second != from.node || unreachable_.contains(index)) return;
  if (!lose_way(index, sentence, false)) fail(sentence);
}

// A frame has come back by the way that it should take: its sender does not reach the destination
// any more, and will say so, but over several streams that may come later. The way now.
Router::Neighbour* Router::learn_returned(NodeId from, NodeId process) {
  const std::size_t index = world_->cluster_of(static_cast<int>(process));
  lost_there_.emplace(from, index);
  NodeId other = other_way(index, true);
  if (other == kNobody) other = other_way(index, false);
  if (other != kNobody) next_[index] = other;
  return find(next_.at(index));
}

// What was to go over the link goes elsewhere.
void Router::salvage(Neighbour& neighbour) {
  if (stopped_) return;
  std::string trouble;
  neighbour.conduit->salvage([&](const InFrame& frame) {
    InFrame again = frame;
    std::uint16_t hops = kMaxHops;
    if (again.flags == 0) again.flags = kRepeated;  // where the new way begins here
    ++redirected_;
    Neighbour* const to = redirect(neighbour.node, again, hops, trouble);
    // It has been consumed: nobody's window is charged for it any more.
    if (to != nullptr) pass_on(*to, kNobody, again, hops);
  });
  const auto held = std::exchange(neighbour.held, {});
  neighbour.turns.clear();
  for (const auto& [node, queue] : held) {
    for (const Held& frame : queue) {
      InFrame again = frame.frame();
      std::uint16_t hops = kMaxHops;
      ++redirected_;
      Neighbour* const to = redirect(node, again, hops, trouble);
      if (to == nullptr || pass_on(*to, node, again, hops)) consume(node, frame.body.size());
    }
  }
  if (!trouble.empty()) fail(trouble);
}

// The next hop of a frame where ways have been lost; sets its flags by what becomes of it.
Router::Neighbour* Router::redirect(NodeId from, InFrame& frame, std::uint16_t& hops,
                                    std::string& trouble) {
  const auto reached = [&](NodeId process) {
    return !world_ || process >= static_cast<NodeId>(world_->size()) ||
           !unreachable_.contains(world_->cluster_of(static_cast<int>(process)));
  };
  const bool returned = (frame.flags & kReturned) != 0;
  if (reached(frame.destination)) {
    Neighbour* to = next_hop(frame.destination, trouble);
    if (!returned || to == nullptr) return to;
    if (to->node == from && is_gateway(from)) to = learn_returned(from, frame.destination);
    if (to->node != from) {
      frame.flags = kRepeated;
      return to;
    }
  }
  if (!reached(frame.source)) {
    trouble = unreachable_.at(world_->cluster_of(static_cast<int>(frame.source)));
    return nullptr;
  }
  if (!returned) hops = kMaxHops;
  frame.flags = kReturned;
  return next_hop(frame.source, trouble);
}

}  // namespace isthmus::core
