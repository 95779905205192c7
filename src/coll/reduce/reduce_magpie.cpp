// Each cluster reduces to its leader (the root's to the root). The leaders send their partial
// results to the root, which combines them in cluster order.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {
namespace {

Task reduce_in_rank_order(Party& party, ConstBytes in, Bytes out, std::size_t count,
                          Reduction& reduction, int root) {
  Buffer all;
  co_await collect_contributions(party, in, all, root, kTagReduce);
  if (party.rank() != root) co_return;
  const auto ranks = static_cast<std::size_t>(party.layout().size());
  copy(fold(reduction, all, in.size(), ranks, count), out);
}

}  // namespace

Task reduce_magpie(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                   int root, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  if (!by_cluster(party, reduction)) {
    co_await reduce_in_rank_order(party, in, out, count, reduction, root);
    co_return;
  }
  const Layout& layout = party.layout();
  const std::size_t size = reduction.packed_size(count);
  const auto clusters = static_cast<std::size_t>(layout.clusters());
  const int home = layout.cluster_of(root);
  const bool at_home = my_cluster(party) == home;
  if (party.rank() == root) {
    Buffer partials(clusters * size);
    std::vector<Pending> pending;
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == home) continue;
      const Bytes partial = partials.part(static_cast<std::size_t>(c) * size, size);
      pending.push_back(party.recv(layout.leader(c), kTagReduce, partial));
    }
    const Bytes here = partials.part(static_cast<std::size_t>(home) * size, size);
    pending.push_back(party.local_reduce(in, here, count, reduction, my_index(party)));
    for (auto& p : pending) co_await p;
    copy(fold(reduction, partials, size, clusters, count), out);
    co_return;
  }
  Buffer partial(!at_home && is_leader(party) ? size : 0);
  {
    const int local_root = at_home ? layout.index_of(root) : 0;
    co_await party.local_reduce(in, partial.bytes(), count, reduction, local_root);
  }
  if (partial.size() > 0) co_await party.send(root, kTagReduce, partial.bytes());
}

double cost_reduce_magpie(const Setting& setting, const Parameters&) {
  return reduced_by_cluster(setting) + far_message(setting, setting.bytes()) +
         detours(setting, setting.bytes());
}

extern const Algorithm kReduceMagpie{Kind::Reduce,       "magpie",      kNothing, kNone,
                                     cost_reduce_magpie, reduce_magpie, kMagPIe};

}  // namespace isthmus::coll
