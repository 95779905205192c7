// Reproducible sums: the tree over ranks (patterns/rank_tree.hpp), by whole vectors or by shares.
// Every cluster computes the top of the tree itself.
#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/rank_tree.hpp"
#include "coll/patterns/rank_tree_shares.hpp"

namespace isthmus::coll {

Task allreduce_ordered(Party& party, ConstBytes in, Bytes out, std::size_t count,
                       Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  std::vector<int> leaders;
  leaders.reserve(static_cast<std::size_t>(party.layout().clusters()));
  for (int c = 0; c < party.layout().clusters(); ++c) leaders.push_back(party.layout().leader(c));
  co_await collect_in_tree(party, in, out, count, reduction, leaders, kTagAllreduce);
  co_await party.local_bcast(out, 0);
}

static Task allreduce_ordered_cut(Party& party, ConstBytes in, Bytes out, std::size_t count,
                                  Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  const Layout& layout = party.layout();
  const std::size_t unit = in.size() / count;
  const Sizes sizes = sizes_of(shares_of_cluster(layout, my_cluster(party), in.size(), unit));
  Buffer own(sizes[static_cast<std::size_t>(my_index(party))]);
  co_await share_in_tree(party, in, own.bytes(), count, reduction,
                         shares_of_clusters(layout, in.size(), unit), kTagAllreduce);
  co_await party.local_allgather(own.bytes(), out, sizes);
}

namespace {

double cost_allreduce_ordered(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return cost_collect_in_tree(setting, parameters) + noticed_late(setting) +
         native_bcast(setting.network, members, setting.bytes());
}

double cost_allreduce_ordered_cut(const Setting& setting, const Parameters& parameters) {
  const int members = largest_cluster(setting.layout);
  return cost_share_in_tree(setting, parameters) + noticed_late(setting) +
         native_allgather(setting.network, members, setting.bytes());
}

}  // namespace

extern const Algorithm kAllreduceOrdered{Kind::Allreduce,        "ordered",         kOrdered, kNone,
                                         cost_allreduce_ordered, allreduce_ordered, ""};
extern const Algorithm kAllreduceOrderedCut{Kind::Allreduce,
                                            "ordered-cut",
                                            kOrderedCut,
                                            kNone,
                                            cost_allreduce_ordered_cut,
                                            allreduce_ordered_cut,
                                            ""};

}  // namespace isthmus::coll
