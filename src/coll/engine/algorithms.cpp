// The table of algorithms: one row each. docs/collectives.md describes them.
#include <algorithm>
#include <array>
#include <string>

#include "coll/engine/cost.hpp"
#include "coll/engine/implementations.hpp"

namespace isthmus::coll {
namespace {

constexpr Demands kNothing{};
/// By cluster: partial results of clusters stand for their ranks.
constexpr Demands kRankOrder{.commutative = true};
constexpr Heeds kNone{};
constexpr Heeds kSegment{.segment = true};
constexpr Heeds kSenders{.senders = true};
constexpr std::string_view kMatsuda = "Matsuda et al., CLUSTER 2006";
constexpr std::string_view kMagPIe = "Kielmann et al., MagPIe, PPoPP 1999";

constexpr std::string_view kLanes =
    "after Traeff and Hunold, Multi-lane Communication, CLUSTER 2020";
constexpr std::string_view kPrefix = "Sanders and Traeff, Parallel Prefix, EuroPVM/MPI 2006";
constexpr Demands kKnownBytes{.known_bytes = true};

constexpr std::array kTable{
    // kind, name, demands, heeds, cost, run, source
    Algorithm{Kind::Barrier, "magpie", kNothing, kNone, cost_barrier_magpie, barrier_magpie,
              kMagPIe},
    Algorithm{Kind::Barrier, "counterparts", kNothing, kNone, cost_barrier_counterparts,
              barrier_counterparts, kLanes},
    Algorithm{Kind::Barrier, "fan", kNothing, kNone, cost_barrier_fan, barrier_fan, ""},
    Algorithm{Kind::Bcast, "magpie", kNothing, kNone, cost_bcast_magpie, bcast_magpie, kMagPIe},
    Algorithm{Kind::Bcast, "direct", kNothing, kNone, cost_bcast_direct, bcast_direct, ""},
    Algorithm{Kind::Bcast, "farfirst", kNothing, kNone, cost_bcast_farfirst, bcast_farfirst,
              kMatsuda},
    Algorithm{Kind::Bcast, "van-de-geijn", kNothing, kNone, cost_bcast_van_de_geijn,
              bcast_van_de_geijn, "Barnett et al., SC 1994"},
    Algorithm{Kind::Bcast, "van-de-geijn-wan", kNothing, kSenders, cost_bcast_van_de_geijn_wan,
              bcast_van_de_geijn_wan, kMatsuda},
    Algorithm{Kind::Bcast, "striped", kNothing, kSegment, cost_bcast_striped, bcast_striped,
              "after den Burger et al., SC 2005"},
    Algorithm{Kind::Bcast, "chained", kNothing, kSegment, cost_bcast_chained, bcast_chained,
              "striped, passed on from cluster to cluster"},
    Algorithm{Kind::Gather, "magpie", kNothing, kNone, cost_gather_magpie, gather_magpie, kMagPIe},
    Algorithm{Kind::Gather, "direct", kNothing, kNone, cost_gather_direct, gather_direct, ""},
    Algorithm{Kind::Scatter, "magpie", kNothing, kNone, cost_gather_magpie, scatter_magpie,
              kMagPIe},
    Algorithm{Kind::Scatter, "direct", kNothing, kNone, cost_gather_direct, scatter_direct, ""},
    Algorithm{Kind::Allgather, "magpie", kNothing, kNone, cost_allgather_magpie, allgather_magpie,
              kMagPIe},
    Algorithm{Kind::Allgather, "counterparts", kNothing, kNone, cost_allgather_counterparts,
              allgather_counterparts, ""},
    Algorithm{Kind::Allgather, "fan", kNothing, kNone, cost_allgather_fan, allgather_fan, ""},
    Algorithm{Kind::Allgather, "intervals", kNothing, kNone, cost_allgather_intervals,
              allgather_intervals, kLanes},
    Algorithm{Kind::Alltoall, "combined", kKnownBytes, kNone, cost_alltoall_combined,
              alltoall_combined, kMagPIe},
    Algorithm{Kind::Alltoall, "fan", kKnownBytes, kNone, cost_alltoall_fan, alltoall_fan, ""},
    Algorithm{Kind::Alltoall, "direct", kNothing, kNone, cost_alltoall_direct, alltoall_direct, ""},
    Algorithm{Kind::Reduce, "magpie", kNothing, kNone, cost_reduce_magpie, reduce_magpie, kMagPIe},
    Algorithm{Kind::Reduce, "striped", kRankOrder, kSegment, cost_reduce_striped, reduce_striped,
              "the striped broadcast, mirrored"},
    Algorithm{Kind::Allreduce, "magpie", kNothing, kNone, cost_allreduce_magpie, allreduce_magpie,
              kMagPIe},
    Algorithm{Kind::Allreduce, "counterparts", kNothing, kNone, cost_scan_counterparts,
              allreduce_counterparts, ""},
    Algorithm{Kind::Allreduce, "fan", kNothing, kNone, cost_allreduce_fan, allreduce_fan, ""},
    Algorithm{Kind::Allreduce, "two-tier", kRankOrder, kNone, cost_allreduce_two_tier,
              allreduce_two_tier, kMatsuda},
    Algorithm{Kind::Allreduce, "rabenseifner", kNothing, kNone, cost_allreduce_rabenseifner,
              allreduce_rabenseifner, "Rabenseifner, ICCS 2004"},
    Algorithm{Kind::Allreduce, "rabenseifner-wan", kRankOrder, kSenders,
              cost_allreduce_rabenseifner_wan, allreduce_rabenseifner_wan, kMatsuda},
    Algorithm{Kind::Allreduce, "pipelined", kRankOrder, kSegment, cost_allreduce_pipelined,
              allreduce_pipelined, "after Rabenseifner and Matsuda et al."},
    Algorithm{Kind::ReduceScatter, "magpie", kNothing, kNone, cost_reduce_scatter_magpie,
              reduce_scatter_magpie, kMagPIe},
    Algorithm{Kind::ReduceScatter, "direct", kNothing, kNone, cost_reduce_scatter_direct,
              reduce_scatter_direct, ""},
    Algorithm{Kind::ReduceScatter, "fan", kNothing, kNone, cost_reduce_scatter_fan,
              reduce_scatter_fan, ""},
    Algorithm{Kind::ReduceScatter, "intervals", kRankOrder, kNone, cost_reduce_scatter_intervals,
              reduce_scatter_intervals, kLanes},
    Algorithm{Kind::Scan, "magpie", kNothing, kNone, cost_scan_magpie, scan_magpie, kMagPIe},
    Algorithm{Kind::Scan, "chain", kNothing, kSegment, cost_scan_chain, scan_chain, kPrefix},
    Algorithm{Kind::Scan, "counterparts", kNothing, kNone, cost_scan_counterparts,
              scan_counterparts, ""},
    Algorithm{Kind::Scan, "fan", kNothing, kNone, cost_scan_fan, scan_fan, ""},
    Algorithm{Kind::Scan, "transpose", kNothing, kNone, cost_scan_transpose, scan_transpose, ""},
    Algorithm{Kind::Exscan, "magpie", kNothing, kNone, cost_scan_magpie, exscan_magpie, kMagPIe},
    Algorithm{Kind::Exscan, "chain", kNothing, kSegment, cost_scan_chain, exscan_chain, kPrefix},
    Algorithm{Kind::Exscan, "counterparts", kNothing, kNone, cost_scan_counterparts,
              exscan_counterparts, ""},
    Algorithm{Kind::Exscan, "fan", kNothing, kNone, cost_scan_fan, exscan_fan, ""},
    Algorithm{Kind::Exscan, "transpose", kNothing, kNone, cost_scan_transpose, exscan_transpose,
              ""},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kTable; }

const Algorithm* find_algorithm(Kind kind, std::string_view name) {
  const auto found = std::find_if(kTable.begin(), kTable.end(), [&](const Algorithm& row) {
    return row.kind == kind && row.name == name;
  });
  return found == kTable.end() ? nullptr : &*found;
}

std::string names_of_algorithms(Kind kind) {
  std::string names;
  for (const Algorithm& row : kTable) {
    if (row.kind == kind) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, kKinds> kNames{
      "barrier", "bcast",     "gather",         "scatter", "allgather", "alltoall",
      "reduce",  "allreduce", "reduce_scatter", "scan",    "exscan"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace isthmus::coll
