// Reproducible sums: the tree over ranks (patterns/rank_tree.hpp), by whole vectors or by shares.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/rank_tree.hpp"
#include "coll/patterns/rank_tree_shares.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"

namespace isthmus::coll {

/// The clusters' leaders compute the whole vector, and scatter their members' blocks.
static Task reduce_scatter_ordered(Party& party, ConstBytes in, Bytes out,
                                   std::vector<std::size_t> counts, Reduction& reduction,
                                   Parameters) {
  if (in.empty()) co_return;
  const Layout& layout = party.layout();
  std::vector<int> leaders;
  leaders.reserve(static_cast<std::size_t>(layout.clusters()));
  for (int c = 0; c < layout.clusters(); ++c) leaders.push_back(layout.leader(c));
  Buffer whole(is_leader(party) ? in.size() : 0);
  co_await collect_in_tree(party, in, whole.bytes(), total(counts), reduction, leaders,
                           kTagReduceScatter);
  Sizes sizes;
  for (const std::size_t count : counts) sizes.push_back(reduction.packed_size(count));
  const Sizes local = sizes_in(layout, my_cluster(party), sizes);
  Buffer blocks(is_leader(party) ? total(local) : 0);
  if (is_leader(party)) {
    const Sizes offsets = offsets_of(sizes);
    const SourcePortion source(layout, my_cluster(party), whole.bytes(), offsets);
    copy(source.bytes(), blocks.bytes());
  }
  co_await party.local_scatter(blocks.bytes(), local, out, 0);
}

static Task reduce_scatter_ordered_cut(Party& party, ConstBytes in, Bytes out,
                                       std::vector<std::size_t> counts, Reduction& reduction,
                                       Parameters) {
  if (in.empty()) co_return;
  std::vector<Share> blocks;
  std::size_t end = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::size_t begin = end;
    end += reduction.packed_size(counts[rank]);
    blocks.push_back({static_cast<int>(rank), begin, end});
  }
  co_await share_in_tree(party, in, out, total(counts), reduction, blocks, kTagReduceScatter);
}

namespace {

double cost_reduce_scatter_ordered(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return cost_collect_in_tree(setting, parameters) +
         native_gather(setting.network, members, setting.bytes());
}

double cost_reduce_scatter_ordered_cut(const Setting& setting, const Parameters& parameters) {
  return cost_share_in_tree(setting, parameters) +
         setting.layout.size() * setting.network.stream_cost;
}

}  // namespace

extern const Algorithm kReduceScatterOrdered{
    Kind::ReduceScatter,    "ordered", kOrdered, kNone, cost_reduce_scatter_ordered,
    reduce_scatter_ordered, ""};
extern const Algorithm kReduceScatterOrderedCut{Kind::ReduceScatter,
                                                "ordered-cut",
                                                kOrderedCut,
                                                kNone,
                                                cost_reduce_scatter_ordered_cut,
                                                reduce_scatter_ordered_cut,
                                                ""};

}  // namespace isthmus::coll
