// Shared by pipelines that go through ranks one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "coll/engine/network.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// The segment of a pipeline of `ranks` members that ends first. A segment's fixed cost is paid
/// once per segment, and once per rank while the pipeline fills.
inline std::size_t pipeline_segment(std::size_t bytes, int ranks, const Network& network) {
  const double fixed = network.message_cost * network.link_bandwidth;
  const double best = std::sqrt(static_cast<double>(bytes) * fixed / std::max(ranks, 1));
  return static_cast<std::size_t>(std::clamp(best, 2048.0, 65536.0));
}

/// Borders between clusters that a chain of all ranks in rank order crosses.
inline int borders(const Layout& layout) {
  int number = 0;
  for (int r = 1; r < layout.size(); ++r) {
    number += layout.cluster_of(r) != layout.cluster_of(r - 1) ? 1 : 0;
  }
  return number;
}

}  // namespace isthmus::coll
