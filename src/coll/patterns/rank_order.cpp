// Reductions that must follow rank order although clusters interleave cannot use the clusters'
// partial results. All contributions come together, still with one message per pair of clusters.
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

Task collect_contributions(Party& party, ConstBytes mine, Buffer& all, int to, int tag) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const auto ranks = static_cast<std::size_t>(layout.size());
  const bool wanted_here = to < 0 || layout.cluster_of(to) == here;
  const int at = to >= 0 && wanted_here ? layout.index_of(to) : 0;  // local index that collects
  const bool collecting = my_index(party) == at;
  const bool receiving = collecting && wanted_here;

  const Sizes each(layout.members(here).size(), mine.size());
  const Sizes offsets = offsets_of(Sizes(ranks, mine.size()));
  Buffer gathered(collecting ? total(each) : 0);
  std::vector<TargetPortion> portions;
  std::vector<Pending> pending;
  if (receiving) {
    all = Buffer(offsets.back());
    portions.reserve(static_cast<std::size_t>(layout.clusters()));
    for (int c = 0; c < layout.clusters(); ++c) {
      auto& portion = portions.emplace_back(layout, c, all.bytes(), offsets);
      if (c != here) pending.push_back(party.recv(layout.leader(c), tag, portion.bytes()));
    }
  }
  co_await party.local_gather(mine, gathered.bytes(), each, at);
  if (collecting) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == here || (to >= 0 && layout.cluster_of(to) != c)) continue;
      pending.push_back(party.send(to < 0 ? layout.leader(c) : to, tag, gathered.bytes()));
    }
  }
  for (auto& p : pending) co_await p;
  if (!receiving) co_return;
  copy(gathered.bytes(), portions[static_cast<std::size_t>(here)].bytes());
  for (auto& portion : portions) portion.store();
}

}  // namespace isthmus::coll
