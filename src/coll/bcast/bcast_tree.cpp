// As magpie's, but along the tree of clusters (engine/ways.hpp). A leader passes the message on to
// leaders that are nearer to it than to its own source, while its own cluster's native broadcast
// runs. Long ways are crossed once.
#include "coll/bcast/bcast.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {

static Task bcast_tree(Party& party, Bytes data, int root, Parameters) {
  if (data.empty()) co_return;
  const Layout& layout = party.layout();
  const Ways ways(layout, party.network());
  const ClusterTree tree(ways, layout.cluster_of(root), data.size());
  const auto speaker = [&](int c) { return c == tree.root() ? root : layout.leader(c); };
  const int here = my_cluster(party);
  const bool speaks = party.rank() == speaker(here);
  std::vector<Pending> pending;
  if (speaks && here != tree.root()) {
    co_await party.recv(speaker(tree.parent(here)), kTagBcast, data);
  }
  if (speaks) {
    for (const int child : tree.children(here)) {
      pending.push_back(party.send(speaker(child), kTagBcast, data));
    }
  }
  pending.push_back(party.local_bcast(data, layout.index_of(speaker(here))));
  for (auto& p : pending) co_await p;
}

namespace {

double cost_bcast_tree(const Setting& setting, const Parameters& parameters) {
  if (setting.ways == nullptr || setting.problem.home < 0) {
    return cost_bcast_magpie(setting, parameters);  // it is the same
  }
  const ClusterTree tree(*setting.ways, setting.problem.home, setting.bytes());
  return tree_message(setting, tree, setting.bytes()) + noticed_late(setting) +
         native_bcast(setting.network, largest_cluster(setting.layout), setting.bytes());
}

}  // namespace

extern const Algorithm kBcastTree{Kind::Bcast,     "tree",     kNothing,   kNone,
                                  cost_bcast_tree, bcast_tree, kMultilevel};

}  // namespace isthmus::coll
