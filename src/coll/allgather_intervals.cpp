// What a cluster's members hold together is cut into as many intervals of one size as another
// cluster has members; each gets its interval straight from those who hold it, so every byte
// crosses once, over all members' links at the same time, and then spreads in the cluster.
// Meanwhile each cluster's own blocks are spread likewise. After van de Geijn's broadcast (scatter,
// copy, allgather), with every rank a root; for equal blocks and clusters it is the allgather of
// Traeff's hierarchical collectives with all members as leaders.
#include "coll/cut.hpp"
#include "coll/implementations.hpp"
#include "coll/pairwise.hpp"

namespace isthmus::coll {
namespace {

/// My interval of another cluster's blocks, and how it reaches the rest of mine.
struct Portion {
  Portion(const Layout& layout, int cluster, Bytes all, const Sizes& offsets, Sizes intervals_,
          std::size_t me)
      : intervals(std::move(intervals_)),
        interval(intervals[me]),
        target(layout, cluster, all, offsets) {}
  Sizes intervals;  // by member of my cluster
  Buffer interval;
  TargetPortion target;
  std::vector<Pending> arrivals;
};

/// Blocks up to this size are left to the native allgather.
constexpr std::size_t kNative = 8 << 10;

/// An allgather in my cluster; all members give the sizes.
Task spread_blocks(Party& party, ConstBytes mine, Bytes all, const Sizes& sizes, int tag) {
  if (*std::max_element(sizes.begin(), sizes.end()) <= kNative) {
    Pending spread = party.local_allgather(mine, all, sizes);
    co_await spread;
    co_return;
  }
  const Sizes offsets = offsets_of(sizes);
  std::vector<Bytes> places;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    places.push_back(all.subspan(offsets[i], sizes[i]));
  }
  copy(mine, places[static_cast<std::size_t>(my_index(party))]);
  std::vector<Pending> arrivals = receive_from_members(party, places, tag);
  std::vector<ConstBytes> same(sizes.size(), mine);
  co_await send_to_members(party, std::move(same), tag);
  for (auto& p : arrivals) co_await p;
}

}  // namespace

Task allgather_intervals(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  const Layout& layout = party.layout();
  const Sizes offsets = offsets_of(sizes);
  if (offsets.back() == 0) co_return;
  const int here = my_cluster(party), clusters = layout.clusters();
  const auto me = static_cast<std::size_t>(my_index(party));
  const Sizes local = sizes_in(layout, here, sizes);
  const Sizes own = offsets_of(local);

  std::vector<Portion> portions;
  portions.reserve(static_cast<std::size_t>(clusters));
  std::vector<Pending> sends;
  for (int step = 1; step < clusters; ++step) {
    const int to = (here + step) % clusters, from = (here + clusters - step) % clusters;
    const auto there = layout.members(to), theirs = layout.members(from);
    for_each_overlap(offsets_of(even_sizes(own.back(), there.size())), own[me], own[me + 1],
                     [&](std::size_t i, std::size_t first, std::size_t last) {
                       sends.push_back(party.send(there[i], kTagAllgather,
                                                  mine.subspan(first - own[me], last - first)));
                     });
    const Sizes blocks = offsets_of(sizes_in(layout, from, sizes));
    auto& portion = portions.emplace_back(layout, from, all, offsets,
                                          even_sizes(blocks.back(), local.size()), me);
    const std::size_t begin = offsets_of(portion.intervals)[me];
    for_each_overlap(
        blocks, begin, begin + portion.interval.size(),
        [&](std::size_t i, std::size_t first, std::size_t last) {
          portion.arrivals.push_back(party.recv(
              theirs[i], kTagAllgather, portion.interval.part(first - begin, last - first)));
        });
  }
  TargetPortion blocks_here(layout, here, all, offsets);
  co_await spread_blocks(party, mine, blocks_here.bytes(), local, kTagAllgather);
  blocks_here.store();
  int tag = kTagAllgatherSpread;
  for (Portion& portion : portions) {
    for (auto& p : portion.arrivals) co_await p;
    co_await spread_blocks(party, portion.interval.bytes(), portion.target.bytes(),
                           portion.intervals, tag++);
    portion.target.store();
  }
  for (auto& p : sends) co_await p;
}

}  // namespace isthmus::coll
