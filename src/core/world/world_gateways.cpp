// The gateways of a world, and how nodes are called.
#include <algorithm>

#include "core/world/world.hpp"

namespace isthmus::core {
namespace {

/// Which of those that stand in the same clusters a gateway is, and how many these are.
struct Place {
  std::size_t number = 0, count = 0;
};

Place place_of(const World& world, const Gateway& gateway) {
  Place place;
  for (const Gateway& other : world.gateways) {
    if (other.clusters != gateway.clusters || other.name != gateway.name) continue;
    ++place.count;
    if (other.node < gateway.node) ++place.number;
  }
  return place;
}

}  // namespace

bool World::has_long_ways() const {
  return std::any_of(gateways.begin(), gateways.end(), [](const Gateway& gateway) {
    return std::any_of(gateway.hops.begin(), gateway.hops.end(), [](int hops) { return hops > 1; });
  });
}

bool World::has_spare_gateways() const {
  std::vector<int> counts(clusters.size());
  return std::any_of(gateways.begin(), gateways.end(), [&](const Gateway& gateway) {
    return (gateway.clusters.empty() && !gateway.late) ||
           std::any_of(gateway.clusters.begin(), gateway.clusters.end(),
                       [&](std::size_t cluster) { return ++counts.at(cluster) > 1; });
  });
}

const Gateway* World::gateway(NodeId node) const {
  const auto found = std::find_if(gateways.begin(), gateways.end(),
                                  [node](const Gateway& other) { return other.node == node; });
  return found == gateways.end() ? nullptr : &*found;
}

std::string quoted_clusters(const World& world, const std::vector<std::size_t>& clusters) {
  std::string text = clusters.size() == 1 ? "cluster " : "clusters ";
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const bool last = i + 1 == clusters.size();
    text += i == 0 ? "" : last ? " and " : ", ";
    text += '"' + world.clusters[clusters[i]].name + '"';
  }
  return text;
}

std::string World::name_of(NodeId node) const {
  if (!is_gateway(node)) {
    std::string rank = rank_name(node);
    if (node >= static_cast<NodeId>(size())) return rank;
    return rank + " (" + quoted_clusters(*this, {cluster_of(static_cast<int>(node))}) + ")";
  }
  const Gateway* const found = gateway(node);
  if (found == nullptr) return "gateway " + std::to_string(node - kFirstGateway);
  const Place place = place_of(*this, *found);
  std::string name = place.count == 1 ? "the gateway" : "gateway " + std::to_string(place.number);
  if (found->clusters.empty()) return name + " \"" + found->name + '"';
  return name + " of " + quoted_clusters(*this, found->clusters);
}

std::string World::label_of(NodeId node) const {
  const Gateway* const found = gateway(node);
  if (found == nullptr) return std::to_string(node);
  std::string label = found->clusters.empty() ? found->name : "";
  for (const std::size_t cluster : found->clusters) {
    label += (label.empty() ? "" : "+") + clusters[cluster].name;
  }
  return label + '/' + std::to_string(place_of(*this, *found).number);
}

}  // namespace isthmus::core
