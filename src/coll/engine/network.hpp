// What the choice of an algorithm knows of the grid's networks. The same on all ranks, since all
// must choose alike.
#pragma once

#include <string_view>

namespace isthmus::coll {

/// Latencies in seconds, one way; bandwidths in bytes a second, each way. The defaults stand for a
/// grid that nobody has measured: 1 Gbit/s everywhere, some 1000 km between clusters. Links that
/// are really slower cost more by a wrong choice than faster ones.
struct Network {
  double wan_latency = 5e-3;      ///< between clusters
  double wan_bandwidth = 125e6;   ///< between two clusters, all their senders together
  double link_latency = 30e-6;    ///< between two members of a cluster
  double link_bandwidth = 125e6;  ///< of one member's link
  /// Software's time to send or receive one message by itself, outside of native collectives.
  double message_cost = 20e-6;
  /// The same in a stream of messages, which wakes no process for each.
  double stream_cost = 2e-6;
  /// Ways out of a cluster that bytes can take at the same time, each a link: its gateways. 0:
  /// every member has its own.
  int paths = 0;

  /// That of clusters on one host, which share its memory.
  static Network of_one_host();
};

/// Reads changes to `base`, as in
///   wan-latency=10ms,wan-rate=1G,link-latency=50us,link-rate=100M,message-cost=10us,
///   stream-cost=1us,paths=2
/// with rates in bits a second (K, M, G: powers of 1000) and latencies one way. Throws
/// std::invalid_argument with a sentence that says what is wrong and what is allowed.
Network parse_network(std::string_view text, Network base);

}  // namespace isthmus::coll
