// The parts of the algorithms' estimated times, in seconds. Each algorithm's formula is in its file
// and in docs/collectives.md, in the table of its collective or in the table of the common terms.
// Estimates need only order the algorithms, so they leave out whatever all have in common.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

class ClusterGroups;  // ways.hpp
class ClusterTree;

/// Bytes a second that `senders` members of a cluster reach together, to one other cluster.
double wan_rate(const Network& network, int senders);
/// Most members of any cluster.
int largest_cluster(const Layout& layout);
/// Fewest members of any cluster.
int smallest_cluster(const Layout& layout);
/// ceil(log2(number)), 0 for 1.
int rounds(int number);
/// Seconds that `bytes` take over one member's link.
double link_time(const Network& network, std::size_t bytes);
/// Latency of a native tree among `members`.
double native_latency(const Network& network, int members);
/// Latency of a native exchange in which all members send and receive in every round.
double exchange_latency(const Network& network, int members);
/// Delay of `messages` from a cluster's members to another cluster that share gateways.
double queueing(const Network& network, int messages);
/// Seconds in which a member opens rings to `peers` ranks of other clusters on its host. A few are
/// soon open for many calls, and do not count.
double opening(const Network& network, int peers);
/// The penalty for `far_bytes` on a wide-area network: they slow the traffic of others, even if
/// links are narrower.
double crowding(const Setting& setting, double far_bytes);
/// Every member's link carries `link_bytes` each way; `far_bytes` go from one cluster to another,
/// all members sending.
double all_at_once(const Setting& setting, double link_bytes, double far_bytes);

/// One message of `bytes` to each other cluster, all from one member.
double far_message(const Setting& setting, std::size_t bytes);

/// The same along the tree, if ways differ: until the last cluster has it.
double tree_message(const Setting& setting, const ClusterTree& tree, std::size_t bytes);
/// Bytes a second that all ways of the tree carry at the same time, `senders` of each cluster
/// sending.
double tree_rate(const Setting& setting, const ClusterTree& tree, int senders);
/// The value of using the tree from the root's cluster, rather than a message to each other
/// cluster. Or the value of groups, rather than messages from each to all. Long ways then stay free
/// for others. 0 if ways do not differ.
double detours(const Setting& setting, std::size_t bytes);
/// If ways differ: `bytes` from the clusters of each group to its head, or back; between heads.
double group_message(const Setting& setting, const ClusterGroups& groups, std::size_t bytes);
double heads_message(const Setting& setting, const ClusterGroups& groups, std::size_t bytes);

/// The native collectives of a cluster with `members`: trees for small messages, halving or
/// pipelines for large ones.
double native_bcast(const Network& network, int members, std::size_t bytes);
double native_reduce(const Network& network, int members, std::size_t bytes);
/// `bytes`: all blocks together.
double native_gather(const Network& network, int members, std::size_t bytes);
double native_allgather(const Network& network, int members, std::size_t bytes);

/// Extra time of a native collective after a wait for another cluster. During the wait, processes
/// look for native messages less and less often, up to a tenth of the wait apart.
double noticed_late(const Setting&);

/// Scatter or allgather by log(members) explicit steps.
double explicit_steps(const Network& network, int members, std::size_t bytes);
/// The most senders of each cluster whose links the network between two clusters can carry. All
/// clusters have that many.
int carried_senders(const Layout& layout, const Network& network);
/// Combining the vectors of all ranks takes about this long.
double combining(const Setting& setting);
/// The same for `vectors` vectors, each combined with one that is in memory already.
double folding(const Setting& setting, double vectors);
/// The native reductions of all clusters, and combining what they come to.
double reduced_by_cluster(const Setting& setting);

/// A problem as the formulas of block collectives see it.
struct Shape {
  explicit Shape(const Setting& setting)
      : ranks(setting.layout.size()),
        members(largest_cluster(setting.layout)),
        others(setting.layout.clusters() - 1),
        bytes(static_cast<double>(setting.bytes())) {}
  int ranks, members, others;
  double bytes;
};

}  // namespace isthmus::coll
