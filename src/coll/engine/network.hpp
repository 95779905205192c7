// The figures of the grid's networks for the choice of an algorithm. They are the same on all
// ranks, since all must choose alike.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isthmus::coll {

/// Figures of single pairs of clusters, with the cluster numbers that layouts are made with.
struct Pairs {
  /// Both directions of a pair; a < b. 0: as for the other pairs.
  struct Way {
    int a, b;
    double latency, bandwidth;
  };
  /// A stretch that several pairs' ways share: its bandwidth, each way.
  struct Shared {
    double bandwidth;
    std::vector<std::pair<int, int>> pairs;  ///< the smaller number first
  };
  std::vector<Way> ways;  ///< ascending, each pair once
  std::vector<Shared> shared;
};

/// Latencies in seconds, one way; bandwidths in bytes a second, each way. The defaults stand for a
/// grid without measurements: 1 Gbit/s everywhere, some 1000 km between clusters. A wrong choice
/// costs more on links slower than assumed than on faster ones.
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
  /// All ranks are on one host, whose processors do a network's work.
  bool one_host = false;
  /// Figures of the pairs of clusters that differ from those above. Null: all pairs are alike.
  std::shared_ptr<const Pairs> pairs;

  /// That of clusters on one host, which share its memory.
  static Network of_one_host();
  /// The network of clusters in one room, where a stream carries `bandwidth` bytes a second.
  static Network of_one_room(double bandwidth);
};

/// Reads changes to `base`, as in
///   wan-latency=10ms,wan-rate=1G,link-latency=50us,link-rate=100M,message-cost=10us,
///   stream-cost=1us,paths=2,pair=lyon/tsukuba:120ms:1G,shared=lyon/tsukuba+nice/tsukuba:1G
/// with rates in bits a second (K, M, G: powers of 1000) and latencies one way. A pair may leave
/// out one of the two. `clusters`: their names, by number; entries about other clusters are
/// ignored. Throws std::invalid_argument with a sentence that names the error and what is allowed.
Network parse_network(std::string_view text, Network base,
                      std::span<const std::string> clusters = {});

}  // namespace isthmus::coll
