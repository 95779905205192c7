#include "coll/patterns/rank_tree.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "coll/engine/phases.hpp"

namespace isthmus::coll {
namespace {

/// Whether all ranks of the node are in one cluster.
bool in_one_cluster(const Layout& layout, RankRange node) {
  for (int rank = node.first + 1; rank < node.last; ++rank) {
    if (layout.cluster_of(rank) != layout.cluster_of(node.first)) return false;
  }
  return true;
}

void add_subtrees(const Layout& layout, RankRange node, std::vector<RankRange>& all) {
  if (in_one_cluster(layout, node)) {
    all.push_back(node);
    return;
  }
  const int middle = middle_of(node);
  add_subtrees(layout, {node.first, middle}, all);
  add_subtrees(layout, {middle, node.last}, all);
}

}  // namespace

int middle_of(RankRange node) {
  const auto ranks = static_cast<unsigned>(node.last - node.first);
  return node.first + static_cast<int>(std::bit_floor(ranks - 1));
}

std::vector<RankRange> cluster_subtrees(const Layout& layout) {
  std::vector<RankRange> all;
  add_subtrees(layout, {0, layout.size()}, all);
  return all;
}

std::vector<RankRange> cluster_subtrees(const Layout& layout, int cluster) {
  std::vector<RankRange> all = cluster_subtrees(layout);
  std::erase_if(all, [&](RankRange node) { return layout.cluster_of(node.first) != cluster; });
  return all;
}

Bytes combine_in_tree(std::span<const RankValue> values, RankRange node, Reduction& reduction,
                      std::size_t count) {
  if (values.front().ranks == node) return values.front().vector;
  const int middle = middle_of(node);
  const auto right =
      std::ranges::find(values, middle, [](const RankValue& value) { return value.ranks.first; });
  const auto lefts = static_cast<std::size_t>(right - values.begin());
  const Bytes low = combine_in_tree(values.first(lefts), {node.first, middle}, reduction, count);
  const Bytes high = combine_in_tree(values.subspan(lefts), {middle, node.last}, reduction, count);
  reduction.combine(low, high, count);
  return high;
}

// The ranks before r are full subtrees, one for each bit of r. The tree of ranks 0 to r combines
// them and r from the right.
void prefixes_in_tree(Buffer& rows, std::size_t size, Reduction& reduction, std::size_t count) {
  if (size == 0) return;
  const std::size_t ranks = rows.size() / size;
  std::vector<Buffer> full;  // the largest first
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Bytes row = rows.part(rank * size, size);
    Buffer own(size);
    copy(row, own.bytes());
    for (std::size_t i = full.size(); i-- > 0;) reduction.combine(full[i].bytes(), row, count);
    for (std::size_t bits = rank; (bits & 1) != 0; bits >>= 1) {
      reduction.combine(full.back().bytes(), own.bytes(), count);
      full.pop_back();
    }
    full.push_back(std::move(own));
  }
}

namespace {

/// The value of this rank's largest subtree within its cluster that begins with it. The subtree is
/// empty if another rank's has it.
struct Held {
  RankRange ranks;
  Buffer value;
};

Task climb(Party& party, ConstBytes in, std::size_t count, Reduction& reduction, int tag,
           Held& held) {
  const Layout& layout = party.layout();
  const int me = party.rank(), ranks = layout.size();
  held.ranks = {me, me + 1};
  held.value = Buffer(in.size());
  copy(in, held.value.bytes());
  for (int step = 1; step < ranks; step *= 2) {
    const bool left = (me & step) == 0;
    if (left && ranks - me <= step) continue;  // there is no right child
    const int first = left ? me : me - step;
    const RankRange parent{first, std::min(ranks - first, 2 * step) + first};
    if (!in_one_cluster(layout, parent)) co_return;
    if (!left) {
      held.ranks = {me, me};
      co_await party.send(first, tag, held.value.bytes());
      co_return;
    }
    Buffer right(in.size());
    co_await party.recv(me + step, tag, right.bytes());
    reduction.combine(held.value.bytes(), right.bytes(), count);
    held.value = std::move(right);
    held.ranks = parent;
  }
}

}  // namespace

Task collect_in_tree(Party& party, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction, std::vector<int> collectors, int tag) {
  const int me = party.rank();
  const bool collects = std::ranges::find(collectors, me) != collectors.end();
  const std::vector<RankRange> subtrees =
      collects ? cluster_subtrees(party.layout()) : std::vector<RankRange>{};
  Buffer memory(subtrees.size() * in.size());
  std::vector<RankValue> values;
  std::vector<Pending> pending;
  for (const RankRange node : subtrees) {
    const Bytes place = memory.part(values.size() * in.size(), in.size());
    values.push_back({node, place});
    if (node.first != me) pending.push_back(party.recv(node.first, tag, place));
  }
  Held held;
  co_await climb(party, in, count, reduction, tag, held);
  if (held.ranks.first != held.ranks.last) {
    for (const int collector : collectors) {
      if (collector != me) pending.push_back(party.send(collector, tag, held.value.bytes()));
    }
    for (const RankValue& value : values) {
      if (value.ranks.first == me) copy(held.value.bytes(), value.vector);
    }
  }
  for (auto& p : pending) co_await p;
  if (!collects) co_return;
  copy(combine_in_tree(values, {0, party.layout().size()}, reduction, count), out);
}

}  // namespace isthmus::coll
