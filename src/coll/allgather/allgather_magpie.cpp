// Each cluster gathers at its leader; the leaders exchange what they gathered; each broadcasts the
// whole in its cluster.
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/gather/gather.hpp"

namespace isthmus::coll {
namespace {

/// Sizes of what each cluster contributes.
Sizes cluster_sizes(const Layout& layout, const Sizes& sizes) {
  Sizes sums;
  for (int c = 0; c < layout.clusters(); ++c) sums.push_back(total(sizes_in(layout, c, sizes)));
  return sums;
}

/// `packed` holds the blocks cluster by cluster; puts them in rank order.
void to_rank_order(const Layout& layout, Bytes packed, const Sizes& offsets, Bytes all) {
  std::size_t at = 0;
  for (int c = 0; c < layout.clusters(); ++c) {
    for (const int rank : layout.members(c)) {
      const auto r = static_cast<std::size_t>(rank);
      const std::size_t size = offsets[r + 1] - offsets[r];
      copy(packed.subspan(at, size), all.subspan(offsets[r], size));
      at += size;
    }
  }
}

}  // namespace

Task allgather_magpie(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  const Layout& layout = party.layout();
  const Sizes offsets = offsets_of(sizes);
  if (offsets.back() == 0) co_return;
  const Sizes local = sizes_in(layout, my_cluster(party), sizes);
  if (layout.clusters() == 1) {
    Pending done = party.local_allgather(mine, all, local);
    co_await done;
    co_return;
  }
  const Sizes starts = offsets_of(cluster_sizes(layout, sizes));
  Buffer copied(layout.blocks() ? 0 : offsets.back());
  const Bytes packed = layout.blocks() ? all : copied.bytes();
  const auto blocks_of = [&](int c) {
    const auto i = static_cast<std::size_t>(c);
    return packed.subspan(starts[i], starts[i + 1] - starts[i]);
  };
  const Bytes here = blocks_of(my_cluster(party));

  std::vector<Pending> pending;
  if (is_leader(party)) {
    for (int c = 0; c < layout.clusters(); ++c) {
      if (c == my_cluster(party) || blocks_of(c).empty()) continue;
      pending.push_back(party.recv(layout.leader(c), kTagAllgather, blocks_of(c)));
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
  {
    Pending spread = party.local_bcast(packed, 0);
    co_await spread;
  }
  if (!layout.blocks()) to_rank_order(layout, packed, offsets, all);
}

namespace {

double cost_allgather_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return cost_gather_magpie(setting, {}) + native_bcast(setting.network, members, setting.bytes());
}

}  // namespace

const Algorithm kAllgatherMagpie{Kind::Allgather,       "magpie",         kNothing, kNone,
                                 cost_allgather_magpie, allgather_magpie, kMagPIe};

}  // namespace isthmus::coll
