// Clusters near each other form a group (engine/ways.hpp). Each cluster reduces to its leader, each
// group to its head's leader. The heads exchange their groups' results. All heads combine them in
// one order, so every cluster gets the same bits. Then the result goes down again. Long ways are
// crossed once in each direction.
#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/ways.hpp"
#include "coll/patterns/cluster_runs.hpp"

namespace isthmus::coll {
namespace {

/// At a head: the group's results with those of the other groups, combined into `out`.
Task exchange_of_heads(Party& party, const ClusterGroups& groups, ConstBytes in, Bytes out,
                       std::size_t count, Reduction& reduction) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const bool loose = reduction.commutative();
  ClusterRuns of_group(reduction, count, loose), of_all(reduction, count, loose);
  std::vector<Pending> group, far;
  for (const int head : groups.all_heads()) {
    if (head == here) continue;
    const Bytes theirs = of_all.expect(groups.group_of(head));
    far.push_back(party.recv(layout.leader(head), kTagAllreduce, theirs));
  }
  for (const int other : groups.others_in_group(here)) {
    const Bytes theirs = of_group.expect({other});
    group.push_back(party.recv(layout.leader(other), kTagAllreduce, theirs));
  }
  group.push_back(party.local_reduce(in, of_group.expect({here}), count, reduction, 0));
  for (auto& p : group) co_await p;
  const Bytes ours = of_group.combine();
  for (const int head : groups.all_heads()) {
    if (head != here) far.push_back(party.send(layout.leader(head), kTagAllreduce, ours));
  }
  copy(ours, of_all.expect(groups.group_of(here)));
  for (auto& p : far) co_await p;
  copy(of_all.combine(), out);
}

/// At the leader of another cluster of a group.
Task by_the_head(Party& party, int head, ConstBytes in, Bytes out, std::size_t count,
                 Reduction& reduction) {
  const int leader = party.layout().leader(head);
  Pending result = party.recv(leader, kTagAllreduceCopy, out);
  Buffer partial(reduction.packed_size(count));
  co_await party.local_reduce(in, partial.bytes(), count, reduction, 0);
  co_await party.send(leader, kTagAllreduce, partial.bytes());
  co_await result;
}

}  // namespace

static Task allreduce_tree(Party& party, ConstBytes in, Bytes out, std::size_t count,
                           Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Layout& layout = party.layout();
  const Ways ways(layout, party.network());
  const ClusterGroups groups(ways, reduction.packed_size(count));
  const int here = my_cluster(party);
  std::vector<Pending> pending;
  if (!is_leader(party)) {
    Pending given = party.local_reduce(in, {}, count, reduction, 0);
    co_await given;
  } else if (groups.is_head(here)) {
    co_await exchange_of_heads(party, groups, in, out, count, reduction);
    for (const int other : groups.others_in_group(here)) {
      pending.push_back(party.send(layout.leader(other), kTagAllreduceCopy, out));
    }
  } else {
    co_await by_the_head(party, groups.head(here), in, out, count, reduction);
  }
  pending.push_back(party.local_bcast(out, 0));
  for (auto& p : pending) co_await p;
}

namespace {

double cost_allreduce_tree(const Setting& setting, const Parameters& parameters) {
  if (setting.ways == nullptr) return cost_allreduce_magpie(setting, parameters);  // it is the same
  const std::size_t bytes = setting.bytes();
  const ClusterGroups groups(*setting.ways, bytes);
  const auto runs = [&](int head) {
    return runs_of(groups.group_of(head), setting.problem.commutative).size();
  };
  std::size_t most = 1;
  for (const int head : groups.all_heads()) most = std::max(most, runs(head));
  const int members = largest_cluster(setting.layout);
  return reduced_by_cluster(setting) + 2 * group_message(setting, groups, bytes) +
         heads_message(setting, groups, most * bytes) + noticed_late(setting) +
         native_bcast(setting.network, members, bytes);
}

}  // namespace

extern const Algorithm kAllreduceTree{Kind::Allreduce,     "tree",         kRankOrder, kNone,
                                      cost_allreduce_tree, allreduce_tree, kMultilevel};

}  // namespace isthmus::coll
