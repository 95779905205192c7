// Every byte crosses once, over all members' links at the same time, and then spreads in the
// cluster. A cluster's blocks together are cut into intervals of one size, one for each member of
// the other cluster. Each member gets its interval straight from the ranks that hold it. Meanwhile
// each cluster spreads its own blocks in the same way. After van de Geijn's broadcast (scatter,
// copy, allgather), with every rank a root. For equal blocks and clusters it is the allgather of
// Traeff's hierarchical collectives with all members as leaders.
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/cut.hpp"
#include "coll/patterns/pairwise.hpp"

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
  int tag = 0;
  std::vector<Pending> arrivals;
};

/// Blocks up to this size are left to the native allgather.
constexpr std::size_t kNative = 8 << 10;

bool left_to_native(const Sizes& sizes) {
  return *std::max_element(sizes.begin(), sizes.end()) <= kNative;
}

// Two halves of an allgather in my cluster, whose members give all sizes.

std::vector<Pending> receive_blocks(Party& party, Bytes all, const Sizes& sizes, int tag) {
  if (left_to_native(sizes)) return {};
  const Sizes offsets = offsets_of(sizes);
  std::vector<Bytes> places;
  places.reserve(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    places.push_back(all.subspan(offsets[i], sizes[i]));
  }
  return receive_from_members(party, places, tag);
}

Task send_blocks(Party& party, ConstBytes mine, Bytes all, const Sizes& sizes, int tag) {
  if (left_to_native(sizes)) {
    co_await party.local_allgather(mine, all, sizes);
    co_return;
  }
  const auto me = static_cast<std::size_t>(my_index(party));
  copy(mine, all.subspan(offsets_of(sizes)[me], sizes[me]));
  co_await send_to_members(party, std::vector<ConstBytes>(sizes.size(), mine), tag);
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
  // Post all receives now, so that a faster sender does not wait for this rank.
  TargetPortion blocks_here(layout, here, all, offsets);
  int from = 0;
  auto spread = receive_blocks(party, blocks_here.bytes(), local, kTagAllgather);
  for (Portion& portion : portions) {
    portion.tag = tag_allgather_spread(from++);
    for (auto& p : receive_blocks(party, portion.target.bytes(), portion.intervals, portion.tag)) {
      spread.push_back(std::move(p));
    }
  }
  co_await send_blocks(party, mine, blocks_here.bytes(), local, kTagAllgather);
  for (Portion& portion : portions) {
    for (auto& p : portion.arrivals) co_await p;
    co_await send_blocks(party, portion.interval.bytes(), portion.target.bytes(), portion.intervals,
                         portion.tag);
  }
  for (auto& p : spread) co_await p;
  blocks_here.store();
  for (Portion& portion : portions) portion.target.store();
  for (auto& p : sends) co_await p;
}

namespace {

double cost_allgather_intervals(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double far_bytes = shape.bytes * shape.members / shape.ranks;
  return (shape.others + 1) * native_latency(setting.network, shape.members) +
         2 * shape.others * setting.network.message_cost +
         queueing(setting.network, shape.members) +
         all_at_once(setting, shape.bytes * (shape.ranks - 1) / shape.ranks, far_bytes) +
         detours(setting, setting.bytes() / static_cast<std::size_t>(setting.layout.clusters()));
}

}  // namespace

extern const Algorithm kAllgatherIntervals{
    Kind::Allgather,          "intervals",         kNothing, kNone,
    cost_allgather_intervals, allgather_intervals, kLanes};

}  // namespace isthmus::coll
