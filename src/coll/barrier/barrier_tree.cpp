// As magpie's, but by groups of clusters near each other (engine/ways.hpp): leaders notify their
// group's head, the heads notify each other, and back. Long ways are crossed once in each
// direction.
#include "coll/barrier/barrier.hpp"
#include "coll/engine/concurrent.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {
namespace {

Task wait_for(Party& party, const std::vector<int>& clusters) {
  std::vector<Pending> pending;
  pending.reserve(clusters.size());
  for (const int c : clusters) {
    pending.push_back(party.recv(party.layout().leader(c), kTagBarrier, {}));
  }
  for (auto& p : pending) co_await p;
}

Task tell(Party& party, const std::vector<int>& clusters) {
  std::vector<Pending> pending;
  pending.reserve(clusters.size());
  for (const int c : clusters) {
    pending.push_back(party.send(party.layout().leader(c), kTagBarrier, {}));
  }
  for (auto& p : pending) co_await p;
}

/// Does both at once, so that two heads do not wait for each other.
Task tell_each_other(Party& party, const std::vector<int>& clusters) {
  std::vector<Task> both;
  both.push_back(tell(party, clusters));
  both.push_back(wait_for(party, clusters));
  Pending all = all_of(std::move(both));
  co_await all;
}

}  // namespace

Task barrier_tree(Party& party, Parameters) {
  const Layout& layout = party.layout();
  co_await party.local_barrier();
  if (layout.clusters() == 1) co_return;
  if (is_leader(party)) {
    const Ways ways(layout, party.network());
    const ClusterGroups groups(ways, 0);
    const int here = my_cluster(party);
    if (groups.is_head(here)) {
      const std::vector<int> group = groups.others_in_group(here);
      std::vector<int> heads = groups.all_heads();
      std::erase(heads, here);
      co_await wait_for(party, group);
      co_await tell_each_other(party, heads);
      co_await tell(party, group);
    } else {
      const std::vector<int> head{groups.head(here)};
      co_await tell(party, head);
      co_await wait_for(party, head);
    }
  }
  co_await party.local_barrier();
}

namespace {

double cost_barrier_tree(const Setting& setting, const Parameters& parameters) {
  if (setting.ways == nullptr) return cost_barrier_magpie(setting, parameters);  // it is the same
  const ClusterGroups groups(*setting.ways, 0);
  return 2 * native_bcast(setting.network, largest_cluster(setting.layout), 0) +
         2 * group_message(setting, groups, 0) + heads_message(setting, groups, 0);
}

}  // namespace

extern const Algorithm kBarrierTree{Kind::Barrier,     "tree",       kNothing,   kNone,
                                    cost_barrier_tree, barrier_tree, kMultilevel};

}  // namespace isthmus::coll
