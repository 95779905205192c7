// Clusters near each other form a group (engine/ways.hpp). Each cluster gathers at its leader, and
// each group at its head's leader. The heads exchange their groups' blocks, and pass arriving
// blocks on to their groups at once. Then each leader broadcasts in its cluster. Every block
// crosses long ways once.
#include "coll/allgather/allgather.hpp"
#include "coll/allgather/cluster_blocks.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/ways.hpp"

namespace isthmus::coll {
namespace {

/// The messages between leaders: one for each cluster's blocks, in the order of clusters.
class Leaders {
 public:
  Leaders(Party& party, const ClusterBlocks& blocks) : party_(party), blocks_(blocks) {}

  std::vector<Pending> receive(int from, const std::vector<int>& clusters) {
    std::vector<Pending> pending;
    for (const int c : clusters) {
      if (blocks_.of(c).empty()) continue;
      pending.push_back(party_.recv(leader(from), kTagAllgather, blocks_.of(c)));
    }
    return pending;
  }

  void send(int to, const std::vector<int>& clusters) {
    for (const int c : clusters) {
      if (c == to || blocks_.of(c).empty()) continue;
      sent_.push_back(party_.send(leader(to), kTagAllgather, blocks_.of(c)));
    }
  }

  /// All that was sent has left.
  Task left() {
    for (auto& p : sent_) co_await p;
  }

 private:
  int leader(int cluster) const { return party_.layout().leader(cluster); }
  Party& party_;
  const ClusterBlocks& blocks_;
  std::vector<Pending> sent_;
};

Task at_the_head(Party& party, const ClusterGroups& groups, const ClusterBlocks& blocks,
                 ConstBytes mine, const Sizes& local) {
  const int here = my_cluster(party);
  const std::vector<int> others = groups.others_in_group(here);
  Leaders leaders(party, blocks);
  std::vector<std::vector<Pending>> of_group, of_heads;
  for (const int other : others) of_group.push_back(leaders.receive(other, {other}));
  std::vector<int> heads = groups.all_heads();
  std::erase(heads, here);
  for (const int head : heads) of_heads.push_back(leaders.receive(head, groups.group_of(head)));
  co_await party.local_gather(mine, blocks.of(here), local, 0);
  for (auto& arrivals : of_group) {
    for (auto& p : arrivals) co_await p;
  }
  const std::vector<int> group = groups.group_of(here);
  for (const int head : heads) leaders.send(head, group);
  for (const int other : others) leaders.send(other, group);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (auto& p : of_heads[i]) co_await p;
    for (const int other : others) leaders.send(other, groups.group_of(heads[i]));
  }
  co_await leaders.left();
}

/// At the leader of another cluster of a group.
Task by_the_head(Party& party, const ClusterGroups& groups, const ClusterBlocks& blocks,
                 ConstBytes mine, const Sizes& local) {
  const int here = my_cluster(party), head = groups.head(here);
  Leaders leaders(party, blocks);
  std::vector<int> rest = groups.group_of(head);
  std::erase(rest, here);
  for (const int other : groups.all_heads()) {
    if (other == head) continue;
    for (const int c : groups.group_of(other)) rest.push_back(c);
  }
  std::vector<Pending> arrivals = leaders.receive(head, rest);
  co_await party.local_gather(mine, blocks.of(here), local, 0);
  leaders.send(head, {here});
  for (auto& p : arrivals) co_await p;
  co_await leaders.left();
}

/// The average bytes of a cluster's blocks. They decide which clusters are near and which are far.
std::size_t share_of_cluster(const Layout& layout, std::size_t bytes) {
  return bytes / static_cast<std::size_t>(layout.clusters());
}

}  // namespace

Task allgather_tree(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  const Layout& layout = party.layout();
  const std::size_t bytes = total(sizes);
  if (bytes == 0) co_return;
  const Sizes local = sizes_in(layout, my_cluster(party), sizes);
  const Ways ways(layout, party.network());
  const ClusterGroups groups(ways, share_of_cluster(layout, bytes));
  const ClusterBlocks blocks(layout, all, sizes);
  if (!is_leader(party)) {
    Pending given = party.local_gather(mine, {}, local, 0);
    co_await given;
  } else if (groups.is_head(my_cluster(party))) {
    co_await at_the_head(party, groups, blocks, mine, local);
  } else {
    co_await by_the_head(party, groups, blocks, mine, local);
  }
  co_await party.local_bcast(blocks.whole(), 0);
  blocks.store();
}

namespace {

double cost_allgather_tree(const Setting& setting, const Parameters& parameters) {
  if (setting.ways == nullptr) return cost_allgather_magpie(setting, parameters);  // it is the same
  const int members = largest_cluster(setting.layout);
  const auto of_rank = setting.bytes() / static_cast<std::size_t>(setting.layout.size());
  const std::size_t share = of_rank * static_cast<std::size_t>(members);
  const ClusterGroups groups(*setting.ways, share_of_cluster(setting.layout, setting.bytes()));
  std::size_t largest = 1;
  for (const int head : groups.all_heads()) {
    largest = std::max(largest, groups.group_of(head).size());
  }
  const double passing = static_cast<double>(setting.bytes()) / 1e9;  // through a head's memory
  return native_gather(setting.network, members, share) + group_message(setting, groups, share) +
         heads_message(setting, groups, largest * share) +
         group_message(setting, groups, setting.bytes() - share) + passing +
         native_bcast(setting.network, members, setting.bytes());
}

}  // namespace

extern const Algorithm kAllgatherTree{Kind::Allgather,     "tree",         kNothing,   kNone,
                                      cost_allgather_tree, allgather_tree, kMultilevel};

}  // namespace isthmus::coll
