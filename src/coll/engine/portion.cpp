#include "coll/engine/portion.hpp"

#include <numeric>

namespace isthmus::coll {
namespace {

std::size_t begin_of(const Sizes& offsets, int rank) {
  return offsets[static_cast<std::size_t>(rank)];
}
std::size_t size_of(const Sizes& offsets, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  return offsets[r + 1] - offsets[r];
}

bool adjacent(std::span<const int> ranks) {
  return ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
}

std::size_t size_of(const Sizes& offsets, std::span<const int> ranks) {
  std::size_t sum = 0;
  for (const int r : ranks) sum += size_of(offsets, r);
  return sum;
}

}  // namespace

Sizes offsets_of(std::span<const std::size_t> sizes) {
  Sizes offsets(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), offsets.begin() + 1);
  return offsets;
}

Sizes sizes_in(const Layout& layout, int cluster, std::span<const std::size_t> sizes) {
  Sizes local;
  for (const int r : layout.members(cluster)) local.push_back(sizes[static_cast<std::size_t>(r)]);
  return local;
}

std::size_t total(std::span<const std::size_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

SourcePortion::SourcePortion(const Layout& layout, int cluster, ConstBytes all,
                             const Sizes& offsets) {
  const auto ranks = layout.members(cluster);
  const std::size_t size = size_of(offsets, ranks);
  if (adjacent(ranks)) {
    bytes_ = all.subspan(begin_of(offsets, ranks.front()), size);
    return;
  }
  copy_ = Buffer(size);
  std::size_t at = 0;
  for (const int r : ranks) {
    const auto block = all.subspan(begin_of(offsets, r), size_of(offsets, r));
    copy(block, copy_.part(at, block.size()));
    at += block.size();
  }
  bytes_ = copy_.bytes();
}

TargetPortion::TargetPortion(const Layout& layout, int cluster, Bytes all, const Sizes& offsets)
    : layout_(layout),
      offsets_(offsets),
      cluster_(cluster),
      all_(all),
      in_place_(adjacent(layout.members(cluster))) {
  const auto ranks = layout.members(cluster);
  const std::size_t size = size_of(offsets, ranks);
  if (in_place_) {
    bytes_ = all.subspan(begin_of(offsets, ranks.front()), size);
  } else {
    copy_ = Buffer(size);
    bytes_ = copy_.bytes();
  }
}

void TargetPortion::store() {
  if (in_place_) return;
  std::size_t at = 0;
  for (const int r : layout_.members(cluster_)) {
    const std::size_t size = size_of(offsets_, r);
    copy(bytes_.subspan(at, size), all_.subspan(begin_of(offsets_, r), size));
    at += size;
  }
}

}  // namespace isthmus::coll
