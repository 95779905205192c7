// When a cluster has failed, and the run goes on without it.
//
// A gateway does not decide that. It suspects clusters that no way from it reaches, and learns from
// outside which one has failed: that one, or its own.
#include <algorithm>
#include <string>
#include <utility>

#include "core/router/router.hpp"

namespace isthmus::core {

bool Router::forgotten(NodeId node) const {
  if (abandoned_.contains(node)) return true;
  if (forgotten_.empty() || !world_) return false;
  if (!is_gateway(node)) {
    return node < static_cast<NodeId>(world_->size()) &&
           forgotten_.contains(world_->cluster_of_node(node));
  }
  const Gateway* const gateway = world_->gateway(node);
  return gateway != nullptr && !gateway->clusters.empty() &&
         std::all_of(gateway->clusters.begin(), gateway->clusters.end(),
                     [this](std::size_t cluster) { return forgotten_.contains(cluster); });
}

bool Router::forget(std::size_t cluster) {
  if (!world_ || cluster >= world_->clusters.size() || !forgotten_.insert(cluster).second) {
    return false;
  }
  drops_ = true;
  unreachable_.erase(cluster);
  for (const auto& [node, neighbour] : neighbours_) {
    if (!neighbour->run.empty() || !forgotten(node) || neighbour->left) continue;
    if (!is_gateway(node)) {
      left(*neighbour);
    } else if (!std::exchange(neighbour->gone, true)) {
      salvaged_.push_back(neighbour.get());  // what it carried for others goes other ways
    }
  }
  drop_held();
  lose_ways_of_forgotten(cluster);
  return true;
}

void Router::drop_held() {
  for (const auto& [node, neighbour] : neighbours_) {
    const auto gone =
        neighbour->held.take_if([this](const HeldFrame& held) { return dropped(held.frame); });
    for (const HeldFrame& held : gone) {
      consume(held.from, held.frame.body.size());
      settle(held.frame.receipt);
    }
  }
}

// Its gateways may have been the only way between two others.
void Router::lose_ways_of_forgotten(std::size_t cluster) {
  if (stopped_ || !opened_) return;
  const std::string sentence = "cluster \"" + world_->clusters[cluster].name +
                               "\" has failed, and no other way leads to cluster \"";
  for (const auto& [index, nodes] : routes_.all()) {
    if (forgotten_cluster(index) || unreachable_.contains(index)) continue;
    lose_way(index, sentence + world_->clusters[index].name + '"', false);
  }
}

// False: no cluster may fail.
bool Router::suspect(std::size_t cluster, const std::string& sentence) {
  if (!config_.survives) return false;
  if (!forgotten_cluster(cluster) && suspected_.insert(cluster).second) {
    say({.what = Action::What::Suspect, .cluster = cluster, .sentence = sentence});
  }
  return true;
}

// Frames for unreachable clusters are lost, as no other gateway can send them on.
bool Router::drops_unreachable() const { return config_.survives && !has_fellows(); }

}  // namespace isthmus::core
