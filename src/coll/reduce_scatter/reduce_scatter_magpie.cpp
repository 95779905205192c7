// Each cluster reduces the whole vector to its leader. The leaders send each other only the blocks
// of the other's members, combine in cluster order and scatter in their clusters.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"

namespace isthmus::coll {
namespace {

/// The vector cut by rank: sizes and offsets in packed bytes.
struct Cut {
  Sizes sizes, offsets;
  Cut(const std::vector<std::size_t>& counts, const Reduction& reduction) {
    for (const std::size_t count : counts) sizes.push_back(reduction.packed_size(count));
    offsets = offsets_of(sizes);
  }
};

std::size_t elements(const Layout& layout, int cluster, const std::vector<std::size_t>& counts) {
  return total(sizes_in(layout, cluster, counts));
}

/// Leaders: sends every cluster its portions of `vectors` (`number` vectors in a row), and receives
/// mine of every cluster. Cluster c's are at arrived[starts[c]], `vectors_of[c]` of them in a row.
Task exchange(Party& party, Bytes vectors, const Cut& cut, Buffer& arrived, const Sizes& starts) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const std::size_t whole = cut.offsets.back();
  const std::size_t number = vectors.size() / whole;
  std::vector<Buffer> outgoing;
  outgoing.reserve(static_cast<std::size_t>(layout.clusters()));
  std::vector<Pending> pending;
  for (int c = 0; c < layout.clusters(); ++c) {
    const auto i = static_cast<std::size_t>(c);
    const Bytes place = arrived.part(starts[i], starts[i + 1] - starts[i]);
    if (c != here && !place.empty()) {
      pending.push_back(party.recv(layout.leader(c), kTagReduceScatter, place));
    }
    const std::size_t portion = total(sizes_in(layout, c, cut.sizes));
    if (portion == 0) continue;
    Buffer& packed = outgoing.emplace_back(c == here ? 0 : number * portion);
    const Bytes target = c == here ? place : packed.bytes();
    for (std::size_t v = 0; v < number; ++v) {
      const SourcePortion source(layout, c, vectors.subspan(v * whole, whole), cut.offsets);
      copy(source.bytes(), target.subspan(v * portion, portion));
    }
    if (c != here) pending.push_back(party.send(layout.leader(c), kTagReduceScatter, target));
  }
  for (auto& p : pending) co_await p;
}

Task exchange_partials(Party& party, ConstBytes in, const Cut& cut,
                       const std::vector<std::size_t>& counts, Reduction& reduction, Buffer& mine) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  Buffer vector(is_leader(party) ? cut.offsets.back() : 0);
  co_await party.local_reduce(in, vector.bytes(), total(counts), reduction, 0);
  if (!is_leader(party)) co_return;
  const auto clusters = static_cast<std::size_t>(layout.clusters());
  const std::size_t portion = total(sizes_in(layout, here, cut.sizes));
  const Sizes starts = offsets_of(Sizes(clusters, portion));
  Buffer arrived(starts.back());
  co_await exchange(party, vector.bytes(), cut, arrived, starts);
  mine = Buffer(portion);
  if (portion == 0) co_return;
  copy(fold(reduction, arrived, portion, clusters, elements(layout, here, counts)), mine.bytes());
}

Task exchange_contributions(Party& party, ConstBytes in, const Cut& cut,
                            const std::vector<std::size_t>& counts, Reduction& reduction,
                            Buffer& mine) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes each(layout.members(here).size(), in.size());
  Buffer vectors(is_leader(party) ? total(each) : 0);
  co_await party.local_gather(in, vectors.bytes(), each, 0);
  if (!is_leader(party)) co_return;
  const std::size_t portion = total(sizes_in(layout, here, cut.sizes));
  Sizes from_cluster;
  for (int c = 0; c < layout.clusters(); ++c) {
    from_cluster.push_back(layout.members(c).size() * portion);
  }
  const Sizes starts = offsets_of(from_cluster);
  Buffer arrived(starts.back());
  co_await exchange(party, vectors.bytes(), cut, arrived, starts);
  mine = Buffer(portion);
  if (portion == 0) co_return;
  const auto of_rank = [&](int rank) {
    const auto c = static_cast<std::size_t>(layout.cluster_of(rank));
    const auto i = static_cast<std::size_t>(layout.index_of(rank));
    return arrived.part(starts[c] + i * portion, portion);
  };
  copy(of_rank(layout.size() - 1), mine.bytes());
  for (int rank = layout.size() - 1; rank-- > 0;) {
    reduction.combine(of_rank(rank), mine.bytes(), elements(layout, here, counts));
  }
}

}  // namespace

static Task reduce_scatter_magpie(Party& party, ConstBytes in, Bytes out,
                                  std::vector<std::size_t> counts, Reduction& reduction,
                                  Parameters) {
  const Cut cut(counts, reduction);
  if (cut.offsets.back() == 0) co_return;
  const Layout& layout = party.layout();
  Buffer mine;  // my cluster's blocks, at its leader
  if (by_cluster(party, reduction)) {
    co_await exchange_partials(party, in, cut, counts, reduction, mine);
  } else {
    co_await exchange_contributions(party, in, cut, counts, reduction, mine);
  }
  const Sizes local = sizes_in(layout, my_cluster(party), cut.sizes);
  co_await party.local_scatter(mine.bytes(), local, out, 0);
}

namespace {

double cost_reduce_scatter_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  const auto clusters = static_cast<std::size_t>(setting.layout.clusters());
  return native_reduce(setting.network, members, setting.bytes()) +
         far_message(setting, setting.bytes() / clusters) +
         native_gather(setting.network, members, setting.bytes() / clusters);
}

}  // namespace

extern const Algorithm kReduceScatterMagpie{
    Kind::ReduceScatter,   "magpie", kNothing, kNone, cost_reduce_scatter_magpie,
    reduce_scatter_magpie, kMagPIe};

}  // namespace isthmus::coll
