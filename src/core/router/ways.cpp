#include "core/router/ways.hpp"

#include <algorithm>
#include <climits>

namespace isthmus::core {

int Ways::hops(const Gate& gate, std::size_t cluster) const {
  return cluster < gate.hops.size() ? gate.hops[cluster] : 0;
}

int Ways::fewest_hops(std::size_t cluster, NodeId process, const Among* among) const {
  int fewest = INT_MAX;
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    if (among != nullptr && !(*among)[i]) continue;
    if (gates_[i].reaches(cluster, process)) fewest = std::min(fewest, hops(gates_[i], cluster));
  }
  return fewest;
}

void Ways::grow_like(std::size_t like) {
  for (Gate& gate : gates_) {
    if (!gate.hops.empty()) gate.hops.push_back(gate.hops[like]);
    if (gate.gone || gate.lost.contains(like)) gate.lost.insert(clusters_);
  }
  ++clusters_;
}

void Ways::grow(const std::vector<int>& hops) {
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    Gate& gate = gates_[i];
    if (!gate.hops.empty()) gate.hops.push_back(hops[i]);
    if (gate.gone) gate.lost.insert(clusters_);
  }
  ++clusters_;
}

void Ways::set_link(LinkChoice link, std::size_t cluster, const std::vector<std::size_t>& gates) {
  Among& among = links_[{link, cluster}];
  among.resize(gates_.size());
  for (const std::size_t gate : gates) among[gate] = true;
}

// Null: all, since the link is not chosen, does not lead there, or is lost.
const Ways::Among* Ways::of_link(LinkChoice link, std::size_t cluster, NodeId process) const {
  if (link == kAnyLink) return nullptr;
  const auto found = links_.find({link, cluster});
  if (found == links_.end()) return nullptr;
  return fewest_hops(cluster, process, &found->second) < INT_MAX ? &found->second : nullptr;
}

std::size_t Ways::to(std::size_t cluster, NodeId process, bool bulk, LinkChoice link) const {
  std::size_t best = kNone;
  const Among* const among = of_link(link, cluster, process);
  const int fewest = fewest_hops(cluster, process, among);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    const std::size_t index = (process + i) % gates_.size();
    const Gate& gate = gates_[index];
    if (among != nullptr && !(*among)[index]) continue;
    if (!gate.reaches(cluster, process) || hops(gate, cluster) > fewest) continue;
    if (!gate.conduit->can_accept(bulk)) continue;
    if (best == kNone || gate.conduit->backlog() < gates_[best].conduit->backlog()) best = index;
  }
  return best;
}

std::size_t Ways::reaching(std::size_t cluster, NodeId process) const {
  const int fewest = fewest_hops(cluster, process);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    const std::size_t index = (process + i) % gates_.size();
    const Gate& gate = gates_[index];
    if (gate.reaches(cluster, process) && hops(gate, cluster) <= fewest) return index;
  }
  return kNone;
}

bool Ways::lose(std::size_t gate, std::size_t cluster) {
  gates_[gate].lost.insert(cluster);
  return std::any_of(gates_.begin(), gates_.end(),
                     [cluster](const Gate& other) { return !other.lost.contains(cluster); });
}

bool Ways::lose_process(std::size_t gate, std::size_t cluster, NodeId process) {
  gates_[gate].cut_off.insert(process);
  return std::any_of(gates_.begin(), gates_.end(),
                     [=](const Gate& other) { return other.reaches(cluster, process); });
}

bool Ways::lose_gate(std::size_t index) {
  Gate& gate = gates_[index];
  gate.gone = true;
  bool reached =
      std::any_of(gates_.begin(), gates_.end(), [](const Gate& other) { return !other.gone; });
  for (std::size_t cluster = 0; cluster < clusters_; ++cluster) {
    reached = lose(index, cluster) && reached;
  }
  keep_all(*gate.conduit);
  return reached;
}

bool Ways::fall_silent(std::size_t gate, std::size_t cluster) {
  gates_[gate].silent.insert(cluster);
  return std::any_of(gates_.begin(), gates_.end(), [cluster](const Gate& other) {
    return !other.lost.contains(cluster) && !other.silent.contains(cluster);
  });
}

void Ways::keep(const InFrame& frame) {
  if (forgotten(frame.destination)) return;
  again_.push_back({frame.kind, frame.destination, {frame.body.begin(), frame.body.end()}});
}

void Ways::keep_returned(std::size_t gate, const InFrame& frame) {
  gates_[gate].cut_off.insert(frame.destination);
  keep(frame);
}

void Ways::keep_all(const Conduit& conduit) {
  conduit.salvage([this](const InFrame& frame) { keep(frame); });
}

bool Ways::forgotten(NodeId process) const {
  return std::any_of(forgotten_.begin(), forgotten_.end(), [process](const auto& range) {
    return process >= range.first && process - range.first < range.second;
  });
}

void Ways::forget(NodeId first, NodeId count) {
  forgotten_.emplace_back(first, count);
  std::erase_if(again_, [this](const Kept& kept) { return forgotten(kept.destination); });
}

// A frame without a way must not keep others back.
bool Ways::send_again(NodeId self, const std::function<Conduit*(NodeId, bool)>& way) {
  const std::size_t gone = std::erase_if(again_, [&](const Kept& kept) {
    Conduit* const conduit = way(kept.destination, kept.body.size() > kExpressBody);
    if (conduit == nullptr) return false;
    OutFrame frame;
    frame.kind = kept.kind;
    frame.source = self;
    frame.destination = kept.destination;
    frame.payload = kept.body;
    frame.flags = kRepeated;
    conduit->submit(frame);
    return true;
  });
  sent_again_ += gone;
  return gone > 0;
}

}  // namespace isthmus::core
