#include "coll/patterns/posts.hpp"

#include <algorithm>

#include "coll/engine/buffer.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/rank_tree.hpp"

namespace isthmus::coll {

std::size_t posted_at_once(std::size_t bytes, std::size_t capacity, std::size_t most,
                           std::size_t unit) {
  return bytes <= capacity ? bytes : std::min(capacity, most) / unit * unit;
}

int rounds_for(std::size_t bytes, std::size_t capacity, std::size_t most) {
  const std::size_t each = posted_at_once(bytes, capacity, most);
  return each == 0 ? 1 : static_cast<int>((bytes + each - 1) / each);
}

namespace {

/// A part of the posts of all ranks.
struct PostedPart {
  const Commons& commons;
  std::size_t size, first, count;
  ConstBytes of(int rank, std::size_t bytes) const {
    return commons.of(rank, size).subspan(first, bytes);
  }
};

void combine_node(const PostedPart& part, RankRange node, Bytes into, Reduction& reduction) {
  if (node.last - node.first == 1) return copy(part.of(node.first, into.size()), into);
  const int middle = middle_of(node);
  combine_node(part, {middle, node.last}, into, reduction);
  if (middle - node.first == 1) {
    reduction.combine(part.of(node.first, into.size()), into, part.count);
    return;
  }
  Buffer left(into.size());
  combine_node(part, {node.first, middle}, left.bytes(), reduction);
  reduction.combine(left.bytes(), into, part.count);
}

}  // namespace

void combine_posts(const Commons& commons, int last, std::size_t size, std::size_t first,
                   Bytes into, std::size_t count, Reduction& reduction) {
  combine_node({commons, size, first, count}, {0, last + 1}, into, reduction);
}

double cost_of_rounds(const Setting& setting, int rounds, double copied, double combined) {
  // Ranks that share cores take turns on them once a round.
  constexpr double kRound = 1e-6, kLookAtARank = 0.1e-6;
  constexpr double kCombineAByte = 0.2e-9;
  // Posts stay in caches; messages between ranks do not. Four ranks' alltoalls of 16 KiB took 17 us
  // by posts and 45 to 90 by messages (2026-11, two cores).
  const double copy_rate = 3 * setting.network.link_bandwidth;
  return rounds * (kRound + setting.layout.size() * kLookAtARank) + copied / copy_rate +
         combined * kCombineAByte;
}

}  // namespace isthmus::coll
