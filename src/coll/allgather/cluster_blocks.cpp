#include "coll/allgather/cluster_blocks.hpp"

#include "coll/engine/phases.hpp"

namespace isthmus::coll {
namespace {

/// Sizes of each cluster's contribution.
Sizes cluster_sizes(const Layout& layout, const Sizes& sizes) {
  Sizes sums;
  for (int c = 0; c < layout.clusters(); ++c) sums.push_back(total(sizes_in(layout, c, sizes)));
  return sums;
}

}  // namespace

ClusterBlocks::ClusterBlocks(const Layout& layout, Bytes all, const Sizes& sizes)
    : layout_(layout),
      all_(all),
      offsets_(offsets_of(sizes)),
      starts_(offsets_of(cluster_sizes(layout, sizes))),
      copy_(layout.blocks() ? 0 : offsets_.back()),
      packed_(layout.blocks() ? all : copy_.bytes()) {}

Bytes ClusterBlocks::of(int cluster) const {
  const auto i = static_cast<std::size_t>(cluster);
  return packed_.subspan(starts_[i], starts_[i + 1] - starts_[i]);
}

void ClusterBlocks::store() const {
  if (layout_.blocks()) return;
  std::size_t at = 0;
  for (int c = 0; c < layout_.clusters(); ++c) {
    for (const int rank : layout_.members(c)) {
      const auto r = static_cast<std::size_t>(rank);
      const std::size_t size = offsets_[r + 1] - offsets_[r];
      copy(packed_.subspan(at, size), all_.subspan(offsets_[r], size));
      at += size;
    }
  }
}

}  // namespace isthmus::coll
