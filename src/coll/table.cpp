// The table of algorithms. Each row is in its algorithm's file; docs/collectives.md describes them.
#include <array>

#include "coll/allgather/allgather.hpp"
#include "coll/allreduce/allreduce.hpp"
#include "coll/alltoall/alltoall.hpp"
#include "coll/barrier/barrier.hpp"
#include "coll/bcast/bcast.hpp"
#include "coll/gather/gather.hpp"
#include "coll/reduce/reduce.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"
#include "coll/scan/scan.hpp"
#include "coll/scatter/scatter.hpp"

namespace isthmus::coll {

std::span<const Algorithm> algorithms() {
  static const std::array kTable{
      kBarrierMagpie,
      kBarrierTree,
      kBarrierCounterparts,
      kBarrierFan,
      kBarrierCommons,
      kBcastMagpie,
      kBcastTree,
      kBcastDirect,
      kBcastFarfirst,
      kBcastVanDeGeijn,
      kBcastVanDeGeijnWan,
      kBcastStriped,
      kBcastChained,
      kBcastCommons,
      kGatherMagpie,
      kGatherDirect,
      kGatherCommons,
      kScatterMagpie,
      kScatterDirect,
      kScatterCommons,
      kAllgatherMagpie,
      kAllgatherTree,
      kAllgatherCounterparts,
      kAllgatherFan,
      kAllgatherIntervals,
      kAllgatherCommons,
      kAlltoallCombined,
      kAlltoallFan,
      kAlltoallDirect,
      kAlltoallCommons,
      kAlltoallCommonsPieces,
      kReduceMagpie,
      kReduceTree,
      kReduceStriped,
      kReduceRabenseifner,
      kReduceCommons,
      kAllreduceMagpie,
      kAllreduceTree,
      kAllreduceCounterparts,
      kAllreduceFan,
      kAllreduceTwoTier,
      kAllreduceRabenseifner,
      kAllreduceRabenseifnerWan,
      kAllreducePipelined,
      kAllreduceCommons,
      kReduceScatterMagpie,
      kReduceScatterDirect,
      kReduceScatterFan,
      kReduceScatterIntervals,
      kReduceScatterCommons,
      kScanMagpie,
      kScanChain,
      kScanCounterparts,
      kScanFan,
      kScanTranspose,
      kScanCommons,
      kExscanMagpie,
      kExscanChain,
      kExscanCounterparts,
      kExscanFan,
      kExscanTranspose,
      kExscanCommons,
  };
  return kTable;
}

}  // namespace isthmus::coll
