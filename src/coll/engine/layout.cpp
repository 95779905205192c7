#include <unordered_map>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

Layout::Layout(std::span<const int> cluster_of_rank) {
  std::unordered_map<int, int> seen;
  cluster_.reserve(cluster_of_rank.size());
  index_.reserve(cluster_of_rank.size());
  for (std::size_t r = 0; r < cluster_of_rank.size(); ++r) {
    const auto [place, is_new] =
        seen.try_emplace(cluster_of_rank[r], static_cast<int>(members_.size()));
    if (is_new) {
      members_.emplace_back();
      numbers_.push_back(cluster_of_rank[r]);
    } else if (place->second != cluster_.back()) {
      blocks_ = false;  // a cluster comes back after another one
    }
    auto& members = members_[static_cast<std::size_t>(place->second)];
    cluster_.push_back(place->second);
    index_.push_back(static_cast<int>(members.size()));
    members.push_back(static_cast<int>(r));
  }
}

}  // namespace isthmus::coll
