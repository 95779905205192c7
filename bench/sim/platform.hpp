// What is simulated: clusters, their ranks, and what is known of their networks. The figures are
// those that the choice of algorithms goes by (coll/engine/network.hpp), so it is right about the
// wires.
#pragma once

#include <vector>

#include "coll/engine/network.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::sim {

struct Platform {
  coll::Layout layout;
  coll::Network network;
  /// Messages carry what they are given. Without, none of the memory that collectives are called
  /// with is touched, and there need be none (coll::phantom).
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
