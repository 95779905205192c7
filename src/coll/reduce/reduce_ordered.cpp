// Reproducible sums: the tree over ranks (patterns/rank_tree.hpp), by whole vectors or by shares.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/rank_tree.hpp"
#include "coll/patterns/rank_tree_shares.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {

Task reduce_ordered(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                    int root, Parameters) {
  if (in.empty()) co_return;
  std::vector<int> collectors(1, root);
  co_await collect_in_tree(party, in, out, count, reduction, std::move(collectors), kTagReduce);
}

static Task reduce_ordered_cut(Party& party, ConstBytes in, Bytes out, std::size_t count,
                               Reduction& reduction, int root, Parameters) {
  if (in.empty()) co_return;
  const Layout& layout = party.layout();
  const int home = layout.cluster_of(root);
  const std::vector<Share> shares = shares_of_cluster(layout, home, in.size(), in.size() / count);
  Buffer own(share_of(party.rank(), shares).size());
  co_await share_in_tree(party, in, own.bytes(), count, reduction, shares, kTagReduce);
  if (my_cluster(party) != home) co_return;
  const Sizes sizes = sizes_of(shares);
  co_await party.local_gather(own.bytes(), out, sizes, layout.index_of(root));
}

namespace {

double cost_reduce_ordered_cut(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return cost_share_in_tree(setting, parameters) +
         native_gather(setting.network, members, setting.bytes());
}

}  // namespace

extern const Algorithm kReduceOrdered{Kind::Reduce,         "ordered",      kOrdered, kNone,
                                      cost_collect_in_tree, reduce_ordered, ""};
extern const Algorithm kReduceOrderedCut{Kind::Reduce,
                                         "ordered-cut",
                                         kOrderedCut,
                                         kNone,
                                         cost_reduce_ordered_cut,
                                         reduce_ordered_cut,
                                         ""};

}  // namespace isthmus::coll
