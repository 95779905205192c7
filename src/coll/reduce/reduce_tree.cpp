// As magpie's, but up the tree of clusters (engine/ways.hpp). A leader combines its cluster's
// result with those of the clusters below it, as far as their order allows, and passes on one
// message. Long ways are crossed once.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/ways.hpp"
#include "coll/patterns/cluster_runs.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {

static Task reduce_tree(Party& party, ConstBytes in, Bytes out, std::size_t count,
                        Reduction& reduction, int root, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Layout& layout = party.layout();
  const Ways ways(layout, party.network());
  const ClusterTree tree(ways, layout.cluster_of(root), reduction.packed_size(count));
  const auto speaker = [&](int c) { return c == tree.root() ? root : layout.leader(c); };
  const int here = my_cluster(party);
  const int to = layout.index_of(speaker(here));
  if (party.rank() != speaker(here)) {
    Pending given = party.local_reduce(in, {}, count, reduction, to);
    co_await given;
    co_return;
  }
  ClusterRuns runs(reduction, count, reduction.commutative());
  std::vector<Pending> pending;
  for (const int child : tree.children(here)) {
    pending.push_back(party.recv(speaker(child), kTagReduce, runs.expect(tree.below(child))));
  }
  pending.push_back(party.local_reduce(in, runs.expect({here}), count, reduction, to));
  for (auto& p : pending) co_await p;
  const Bytes result = runs.combine();
  if (here == tree.root()) {
    copy(result, out);
    co_return;
  }
  co_await party.send(speaker(tree.parent(here)), kTagReduce, result);
}

namespace {

/// Most vectors in one message of the tree.
std::size_t most_vectors(const ClusterTree& tree, int clusters, bool loose) {
  std::size_t most = 1;
  for (int c = 0; c < clusters; ++c) {
    if (c != tree.root()) most = std::max(most, runs_of(tree.below(c), loose).size());
  }
  return most;
}

double cost_reduce_tree(const Setting& setting, const Parameters& parameters) {
  if (setting.ways == nullptr || setting.problem.home < 0) {
    return cost_reduce_magpie(setting, parameters);  // it is the same
  }
  const ClusterTree tree(*setting.ways, setting.problem.home, setting.bytes());
  const std::size_t bytes =
      setting.bytes() * most_vectors(tree, setting.ways->clusters(), setting.problem.commutative);
  return reduced_by_cluster(setting) + tree_message(setting, tree, bytes);
}

}  // namespace

extern const Algorithm kReduceTree{Kind::Reduce,     "tree",      kRankOrder, kNone,
                                   cost_reduce_tree, reduce_tree, kMultilevel};

}  // namespace isthmus::coll
