// The blocks of another cluster's members, taken together, are cut into intervals of one size, one
// for each member of my cluster. A native alltoall brings each member its interval of all members'
// vectors. The member combines it, in rank order, and sends the result straight to the owners. So
// every byte of a cluster's partial result crosses once, over all members' links at the same time.
// The blocks of my own cluster are reduced the same way meanwhile. The mirror of
// allgather_intervals; inside a cluster, the pairwise exchange of Rabenseifner's and Traeff's
// reduce-scatter.
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/cut.hpp"
#include "coll/engine/phases.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"

namespace isthmus::coll {
namespace {

/// The elements of one cluster's blocks, cut among my cluster's members, before they are combined.
/// The parts of all members' vectors for this interval lie one after the other.
struct Shares {
  Shares(Party& party, Reduction& reduction, int cluster, ConstBytes in, const Sizes& offsets,
         const Sizes& interval_counts)
      : source(party.layout(), cluster, in, offsets) {
    const auto me = static_cast<std::size_t>(my_index(party));
    Sizes sizes;
    for (const std::size_t n : interval_counts) sizes.push_back(reduction.packed_size(n));
    count = interval_counts[me];
    size = sizes[me];
    arrived = Buffer(sizes.size() * size);
    exchanged =
        party.local_alltoall(source.bytes(), sizes, arrived.bytes(), Sizes(sizes.size(), size));
  }
  /// Once exchanged.
  Bytes combine(Reduction& reduction) {
    if (count == 0) return {};
    return fold(reduction, arrived, size, arrived.size() / size, count);
  }
  SourcePortion source;
  std::size_t count, size;
  Buffer arrived;
  Pending exchanged;
};

}  // namespace

Task reduce_scatter_intervals(Party& party, ConstBytes in, Bytes out,
                              std::vector<std::size_t> counts, Reduction& reduction, Parameters) {
  Sizes sizes;
  for (const std::size_t count : counts) sizes.push_back(reduction.packed_size(count));
  const Sizes offsets = offsets_of(sizes);
  if (offsets.back() == 0) co_return;
  const Layout& layout = party.layout();
  const int here = my_cluster(party), clusters = layout.clusters();
  const auto me = static_cast<std::size_t>(my_index(party));
  const auto members = layout.members(here).size();
  const Sizes own_counts = sizes_in(layout, here, counts);
  const Sizes own = offsets_of(own_counts);
  const std::size_t mine = own_counts[me], size = out.size();

  // The other clusters' partial results for my block, one each, in cluster order.
  Buffer partials(static_cast<std::size_t>(clusters) * size);
  const auto partial_of = [&](int c) {
    return partials.part(static_cast<std::size_t>(c) * size, size);
  };
  std::vector<Pending> pending;
  for (int c = 0; c < clusters; ++c) {
    if (c == here) continue;
    const auto theirs = layout.members(c);
    for_each_overlap(offsets_of(even_sizes(own.back(), theirs.size())), own[me], own[me + 1],
                     [&](std::size_t i, std::size_t first, std::size_t last) {
                       const auto place =
                           partial_of(c).subspan(reduction.packed_size(first - own[me]),
                                                 reduction.packed_size(last - first));
                       pending.push_back(party.recv(theirs[i], kTagReduceScatter, place));
                     });
  }
  std::vector<Shares> shares;
  shares.reserve(static_cast<std::size_t>(clusters));
  const auto exchange = [&](int step) {
    const int c = (here + step) % clusters;
    const Sizes cut =
        c == here ? own_counts : even_sizes(total(sizes_in(layout, c, counts)), members);
    shares.emplace_back(party, reduction, c, in, offsets, cut);
  };
  for (int step = 1; step <= clusters; ++step) {
    if (step == 1) exchange(1);
    Shares& share = shares.back();
    co_await share.exchanged;
    if (step < clusters) exchange(step + 1);  // the network is not idle while this one combines
    const Bytes result = share.combine(reduction);
    const int c = (here + step) % clusters;
    if (c == here) {
      copy(result, partial_of(here));
      continue;
    }
    const auto there = layout.members(c);
    const Sizes blocks = offsets_of(sizes_in(layout, c, counts));
    const std::size_t begin = offsets_of(even_sizes(blocks.back(), members))[me];
    for_each_overlap(
        blocks, begin, begin + share.count,
        [&](std::size_t i, std::size_t first, std::size_t last) {
          pending.push_back(party.send(there[i], kTagReduceScatter,
                                       result.subspan(reduction.packed_size(first - begin),
                                                      reduction.packed_size(last - first))));
        });
  }
  for (auto& p : pending) co_await p;
  if (size == 0) co_return;
  copy(fold(reduction, partials, size, static_cast<std::size_t>(clusters), mine), out);
}

namespace {

double cost_reduce_scatter_intervals(const Setting& setting, const Parameters&) {
  const Network& network = setting.network;
  const int ranks = setting.layout.size(), members = largest_cluster(setting.layout);
  const int clusters = setting.layout.clusters();
  const auto bytes = static_cast<double>(setting.bytes());
  return clusters * (network.link_latency + (members - 1) * network.message_cost) +
         2 * (clusters - 1) * network.message_cost + queueing(network, members) +
         all_at_once(setting, bytes * (ranks - 1) / ranks, bytes * members / ranks);
}

}  // namespace

extern const Algorithm kReduceScatterIntervals{
    Kind::ReduceScatter,      "intervals", kRankOrder, kNone, cost_reduce_scatter_intervals,
    reduce_scatter_intervals, kLanes};

}  // namespace isthmus::coll
