// The root sends every other cluster's blocks to its leader as one message, while it scatters
// natively in its own cluster. The leaders scatter in theirs.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/gather/gather.hpp"
#include "coll/scatter/scatter.hpp"

namespace isthmus::coll {
namespace {

Task scatter_from_root(Party& party, ConstBytes all, const Sizes& offsets, const Sizes& sizes,
                       Bytes mine) {
  const Layout& layout = party.layout();
  std::vector<SourcePortion> portions;
  portions.reserve(static_cast<std::size_t>(layout.clusters()));
  std::vector<Pending> pending;
  const Sizes local = sizes_in(layout, my_cluster(party), sizes);
  for (int c = 0; c < layout.clusters(); ++c) {
    const auto& portion = portions.emplace_back(layout, c, all, offsets);
    if (c != my_cluster(party) && !portion.bytes().empty()) {
      pending.push_back(party.send(layout.leader(c), kTagScatter, portion.bytes()));
    }
  }
  const auto& here = portions[static_cast<std::size_t>(my_cluster(party))];
  pending.push_back(party.local_scatter(here.bytes(), local, mine, my_index(party)));
  for (auto& p : pending) co_await p;
}

}  // namespace

static Task scatter_magpie(Party& party, ConstBytes all, Sizes sizes, Bytes mine, int root,
                           Parameters) {
  const Layout& layout = party.layout();
  if (party.rank() == root) {
    const Sizes offsets = offsets_of(sizes);
    co_await scatter_from_root(party, all, offsets, sizes, mine);
    co_return;
  }
  if (my_cluster(party) == layout.cluster_of(root)) {
    Pending taken = party.local_scatter({}, {}, mine, layout.index_of(root));
    co_await taken;
    co_return;
  }
  Sizes local;
  if (!sizes.empty()) local = sizes_in(layout, my_cluster(party), sizes);
  co_await learn_sizes(party, mine.size(), local);
  Buffer packed(is_leader(party) ? total(local) : 0);
  if (packed.size() > 0) co_await party.recv(root, kTagScatter, packed.bytes());
  co_await party.local_scatter(packed.bytes(), local, mine, 0);
}

extern const Algorithm kScatterMagpie{Kind::Scatter,      "magpie",       kNothing, kNone,
                                      cost_gather_magpie, scatter_magpie, kMagPIe};

}  // namespace isthmus::coll
