// Each cluster gathers at its leader; the leaders exchange what they gathered; each broadcasts the
// whole in its cluster.
#include "coll/allgather/allgather.hpp"
#include "coll/allgather/cluster_blocks.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/gather/gather.hpp"

namespace isthmus::coll {
Task allgather_magpie(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  const Layout& layout = party.layout();
  if (total(sizes) == 0) co_return;
  const Sizes local = sizes_in(layout, my_cluster(party), sizes);
  if (layout.clusters() == 1) {
    co_await party.local_allgather(mine, all, local);
    co_return;
  }
  const ClusterBlocks blocks(layout, all, sizes);
  const Bytes here = blocks.of(my_cluster(party));

  std::vector<Pending> pending;
  if (is_leader(party)) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == my_cluster(party) || blocks.of(c).empty()) continue;
      pending.push_back(party.recv(layout.leader(c), kTagAllgather, blocks.of(c)));
    }
  }
  {
    Pending gathered = party.local_gather(mine, is_leader(party) ? here : Bytes{}, local, 0);
    co_await gathered;
  }
  if (is_leader(party)) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == my_cluster(party) || here.empty()) continue;
      pending.push_back(party.send(layout.leader(c), kTagAllgather, here));
    }
  }
  for (auto& p : pending) co_await p;
  co_await party.local_bcast(blocks.whole(), 0);
  blocks.store();
}

double cost_allgather_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  const std::size_t share = setting.bytes() / static_cast<std::size_t>(setting.layout.clusters());
  return cost_gather_magpie(setting, {}) + native_bcast(setting.network, members, setting.bytes()) +
         detours(setting, share);
}

extern const Algorithm kAllgatherMagpie{Kind::Allgather,       "magpie",         kNothing, kNone,
                                        cost_allgather_magpie, allgather_magpie, kMagPIe};

}  // namespace isthmus::coll
