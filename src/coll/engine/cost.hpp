// The estimated times of algorithms, in seconds, and the parts they are made of. Each formula
// stands in docs/collectives.md, in the table of its collective or in the one of what is added.
// Estimates need only order the algorithms: they leave out what all have in common.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

/// Bytes a second that `senders` members of a cluster reach together, to one other cluster.
double wan_rate(const Network& network, int senders);
/// Most members of any cluster.
int largest_cluster(const Layout& layout);
/// ceil(log2(number)), 0 for 1.
int rounds(int number);
/// Seconds that `bytes` take over one member's link.
double link_time(const Network& network, std::size_t bytes);
/// Latency of a native tree among `members`.
double native_latency(const Network& network, int members);
/// Of a native exchange in as many rounds, in each of which everybody sends and receives.
double exchange_latency(const Network& network, int members);
/// What `messages` of a cluster's members to another cluster cost where they share gateways.
double queueing(const Network& network, int messages);
/// What it is worth to keep `far_bytes` off a wide-area network, even where links are narrower: it
/// gets in the way of others.
double crowding(const Setting& setting, double far_bytes);
/// Every member's link carries `link_bytes` each way; `far_bytes` go from one cluster to another,
/// all members sending.
double all_at_once(const Setting& setting, double link_bytes, double far_bytes);

/// One message of `bytes` to each other cluster, all from one member.
double far_message(const Setting& setting, std::size_t bytes);

/// The native collectives of a cluster with `members`: trees for small messages, halving or
/// pipelines for large ones.
double native_bcast(const Network& network, int members, std::size_t bytes);
double native_reduce(const Network& network, int members, std::size_t bytes);
/// `bytes`: all blocks together.
double native_gather(const Network& network, int members, std::size_t bytes);
double native_allgather(const Network& network, int members, std::size_t bytes);

/// Of what fan.hpp makes: `in` bytes from each member to its leader, `out` from there to each rank.
double cost_of_fan(const Setting& setting, double in, double out);

/// What a native collective takes longer after a wait for another cluster: processes look for
/// native messages less and less often meanwhile, up to a tenth of the wait apart.
double noticed_late(const Setting&);

double cost_bcast_magpie(const Setting&, const Parameters&);
double cost_bcast_direct(const Setting&, const Parameters&);
double cost_reduce_magpie(const Setting&, const Parameters&);
double cost_allreduce_magpie(const Setting&, const Parameters&);
double cost_allreduce_fan(const Setting&, const Parameters&);

// cost_wide.cpp
double cost_bcast_farfirst(const Setting&, const Parameters&);
double cost_bcast_van_de_geijn(const Setting&, const Parameters&);
double cost_bcast_van_de_geijn_wan(const Setting&, const Parameters&);
double cost_bcast_striped(const Setting&, const Parameters&);
double cost_bcast_chained(const Setting&, const Parameters&);
double cost_reduce_striped(const Setting&, const Parameters&);
double cost_allreduce_two_tier(const Setting&, const Parameters&);
double cost_allreduce_rabenseifner(const Setting&, const Parameters&);
double cost_allreduce_rabenseifner_wan(const Setting&, const Parameters&);
double cost_allreduce_pipelined(const Setting&, const Parameters&);

// cost_blocks.cpp
double cost_barrier_magpie(const Setting&, const Parameters&);
double cost_barrier_counterparts(const Setting&, const Parameters&);
double cost_barrier_fan(const Setting&, const Parameters&);
double cost_gather_magpie(const Setting&, const Parameters&);  ///< scatter too
double cost_gather_direct(const Setting&, const Parameters&);  ///< scatter too
double cost_allgather_magpie(const Setting&, const Parameters&);
double cost_allgather_counterparts(const Setting&, const Parameters&);
double cost_allgather_fan(const Setting&, const Parameters&);
double cost_allgather_intervals(const Setting&, const Parameters&);
double cost_alltoall_combined(const Setting&, const Parameters&);
double cost_alltoall_fan(const Setting&, const Parameters&);
double cost_alltoall_direct(const Setting&, const Parameters&);

// cost_scans.cpp
double cost_reduce_scatter_magpie(const Setting&, const Parameters&);
double cost_reduce_scatter_direct(const Setting&, const Parameters&);
double cost_reduce_scatter_fan(const Setting&, const Parameters&);
double cost_reduce_scatter_intervals(const Setting&, const Parameters&);
double cost_scan_magpie(const Setting&, const Parameters&);  ///< exscan too, as the next ones
double cost_scan_chain(const Setting&, const Parameters&);
double cost_scan_counterparts(const Setting&, const Parameters&);
double cost_scan_fan(const Setting&, const Parameters&);
double cost_scan_transpose(const Setting&, const Parameters&);

}  // namespace isthmus::coll
