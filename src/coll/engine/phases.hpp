// Shared by the collectives: their tags, and small pieces of their bodies.
#pragma once

#include "coll/engine/parameters.hpp"
#include "coll/engine/portion.hpp"

namespace isthmus::coll {

/// Tags of the messages. One per collective is enough. Every message that a collective sends it
/// also receives, and messages between a pair of ranks stay in order, so successive collectives
/// cannot mix.
enum Tag : int {
  kTagBarrier,
  kTagBcast,
  kTagGather,
  kTagScatter,
  kTagAllgather,
  kTagAlltoall,
  kTagReduce,
  kTagAllreduce,
  kTagReduceScatter,
  kTagScan,
  kTagExscan,
  kTagExscanShift,
  kTagAcross,  ///< between the two sides of an intercommunicator
  kTagBcastCopy,
  kTagBcastSpread,
  kTagReduceCopy,
  kTagReduceResult,
  kTagAllreduceCopy,
  kTagAllreduceSpread,
  kTagNeighbors,
  kTagSecondLane,  ///< and on: those before, of a second lane (inter/subset.hpp)
  kTagsOfClusters = 2 * kTagSecondLane,  ///< and on, two for each cluster; then local phases
};
/// The tag of broadcast segments that have crossed `crossings` times.
constexpr int tag_bcast_from(int crossings) { return kTagsOfClusters + 2 * crossings; }
/// The tag of blocks that came from another cluster of the layout.
constexpr int tag_allgather_spread(int cluster) { return kTagsOfClusters + 2 * cluster + 1; }
/// Local phases by messages that may be under way at a time, in each of two lanes.
constexpr int local_phases(int clusters) { return 16 + clusters; }
constexpr int tag_local_phase(int clusters, int number, bool second_lane) {
  const int phases = local_phases(clusters);
  return kTagsOfClusters + 2 * clusters + (second_lane ? phases : 0) + number % phases;
}
/// The number of tags: a party over native MPI has only a few to give.
constexpr int tags_of(int clusters) {
  return kTagsOfClusters + 2 * clusters + 2 * local_phases(clusters);
}

inline int my_cluster(const Party& party) { return party.layout().cluster_of(party.rank()); }
inline int my_index(const Party& party) { return party.layout().index_of(party.rank()); }
inline bool is_leader(const Party& party) { return my_index(party) == 0; }

/// True if a partial result of each cluster can stand for its ranks: order does not matter, or
/// combining the clusters' results in cluster order keeps rank order.
inline bool by_cluster(const Party& party, const Reduction& reduction) {
  return party.layout().blocks() || reduction.commutative();
}

/// partials: one per cluster, in order, each `size` bytes; folds them into the last one.
inline Bytes fold(Reduction& reduction, Buffer& partials, std::size_t size, std::size_t number,
                  std::size_t count) {
  const Bytes result = partials.part((number - 1) * size, size);
  for (std::size_t i = number - 1; i-- > 0;) {
    reduction.combine(partials.part(i * size, size), result, count);
  }
  return result;
}

/// The members' sizes at their leader (elsewhere `sizes` stays unchanged): the leaders of clusters
/// away from the root do not know them. Does nothing if `sizes` is given.
Task learn_sizes(Party& party, std::size_t mine, Sizes& sizes);

/// rank_order.cpp: every rank's contribution, `size` bytes each, at the leader of `to`'s cluster
/// (at `to` itself), or at all leaders when `to` is -1. `all` holds them in rank order and is
/// allocated there. For reductions in rank order over interleaved clusters.
Task collect_contributions(Party& party, ConstBytes mine, Buffer& all, int to, int tag);

/// short_vectors.cpp: every rank's vector on all ranks, by `allgather`. The vectors of ranks 0 to
/// `last` are combined into `out`, in rank order; -1 combines nothing.
using Allgather = Task (*)(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task prefix(Allgather allgather, Party& party, ConstBytes in, Bytes out, std::size_t count,
            Reduction& reduction, int last);

}  // namespace isthmus::coll
