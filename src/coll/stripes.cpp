#include "coll/stripes.hpp"

namespace isthmus::coll {

Stripes::Stripes(const Layout& layout, int root)
    : layout_(layout), root_(root), home_(layout.cluster_of(root)) {
  for (const int rank : layout.members(home_)) {
    if (rank != root) relays_.push_back(rank);
  }
  if (relays_.empty()) relays_.push_back(root);
}

int Stripes::source(int rank, std::size_t k) const {
  if (rank == root_) return -1;
  const int cluster = layout_.cluster_of(rank);
  const int first = cluster == home_ ? relay(k) : entry(cluster, k);
  if (first != rank) return first;
  return cluster == home_ ? root_ : relay(k);
}

std::vector<int> Stripes::targets(int rank, std::size_t k) const {
  std::vector<int> found;
  const int cluster = layout_.cluster_of(rank);
  if (rank == root_ && relay(k) != root_) return {relay(k)};
  if (cluster == home_ ? relay(k) != rank : entry(cluster, k) != rank) return found;
  if (cluster == home_) {
    for (int c = 0; c < layout_.clusters(); ++c) {
      if (c != home_) found.push_back(entry(c, k));
    }
  }
  const auto members = layout_.members(cluster);
  const auto size = members.size();
  const auto me = static_cast<std::size_t>(layout_.index_of(rank));
  for (std::size_t i = 1; i < size; ++i) {  // the next one first, so that they do not collide
    const int other = members[(me + i) % size];
    if (other != root_) found.push_back(other);
  }
  return found;
}

}  // namespace isthmus::coll
