// The simulated platform: clusters, their ranks, and the figures of their networks. The choice of
// algorithms has the same figures (coll/engine/network.hpp), so it is right about the wires.
#pragma once

#include <vector>

#include "coll/engine/network.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::sim {

struct Platform {
  coll::Layout layout;
  coll::Network network;
  /// Messages carry their contents. If false, the memory of collectives is never touched, and need
  /// not exist (coll::phantom).
  bool contents = true;

  /// Clusters that are blocks of ranks, as even as can be.
  static coll::Layout blocks(int clusters, int ranks) {
    std::vector<int> cluster_of_rank;
    for (int c = 0; c < clusters; ++c) {
      const int members = ranks / clusters + (c < ranks % clusters ? 1 : 0);
      cluster_of_rank.insert(cluster_of_rank.end(), static_cast<std::size_t>(members), c);
    }
    return coll::Layout(cluster_of_rank);
  }
};

}  // namespace isthmus::sim
