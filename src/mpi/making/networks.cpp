#include "mpi/making/networks.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "coll/engine/room.hpp"

namespace isthmus::face {
namespace {

/// All parts of the world choose alike, so this goes by the one that was there from the beginning.
int gateways_of_fewest(const core::World& world) {
  const std::size_t clusters = world.part(0).size();
  if (world.direct.size() >= clusters * (clusters - 1) / 2) return 0;
  std::vector<int> gateways(clusters, 0);
  for (const core::Gateway& gateway : world.gateways) {
    for (const std::size_t cluster : gateway.clusters) {
      if (cluster < clusters) ++gateways[cluster];
    }
  }
  return std::max(1, *std::min_element(gateways.begin(), gateways.end()));
}

/// `assumed`, changed by `text`.
coll::Network changed(const core::World& world, coll::Network assumed, const std::string& text) {
  std::vector<std::string> names;  // by the number that layouts have for them
  for (const core::Cluster& cluster : world.part(0)) names.push_back(cluster.name);
  try {
    return coll::parse_network(text, std::move(assumed), names);
  } catch (const std::invalid_argument& wrong) {
    throw std::runtime_error(std::string("ISTHMUS_NETWORK is wrong: ") + wrong.what());
  }
}

}  // namespace

coll::Network networks_of(const core::World& world, const std::string& text) {
  if (world.on_one_host()) return changed(world, coll::Network::of_one_host(), text);
  coll::Network network;
  network.paths = gateways_of_fewest(world);
  return changed(world, network, text);
}

coll::Network networks_of_room(const core::World& world, const std::string& text,
                               double bandwidth) {
  coll::Network network = coll::Network::of_one_room(bandwidth);
  network.paths = gateways_of_fewest(world);
  return changed(world, network, text);
}

bool may_be_one_room(const core::World& world, const std::string& text) {
  if (world.part(0).size() < 2 || world.on_one_host()) return false;
  coll::Network said;
  said.wan_latency = said.wan_bandwidth = said.link_bandwidth = said.stream_cost = 0;
  said = changed(world, said, text);
  const bool all = said.wan_latency > 0 && said.wan_bandwidth > 0 && said.link_bandwidth > 0 &&
                   said.stream_cost > 0;
  return !all && said.wan_latency < coll::kRoomRoundTrip / 2;
}

}  // namespace isthmus::face
