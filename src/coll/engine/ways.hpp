// The ways between the clusters of a layout, and their uses: the network as one collective meets
// it, and trees over clusters. All of it comes from values that are the same on all ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "coll/engine/network.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

class Ways {
 public:
  /// Both must outlive it.
  Ways(const Layout& layout, const Network& network);

  int clusters() const { return clusters_; }
  /// False if all ways are as far and as wide, without shared stretches.
  bool differ() const { return differ_; }
  double latency(int a, int b) const { return at(a, b).latency; }
  /// Bytes a second of `senders` members together.
  double rate(int a, int b, int senders) const;
  /// Seconds that `bytes` of one member are on their way; of many members.
  double distance(int a, int b, std::size_t bytes) const;
  double distance_of_many(int a, int b, std::size_t bytes) const;

  /// The network for a rank that waits for the worst of the ways between `home` and each other
  /// cluster. All of them are used at once; -1: the worst of all ways.
  Network worst(int home) const;

  /// A stretch that pairs of these clusters share, each as its own number.
  struct Shared {
    double bandwidth;
    std::vector<std::pair<int, int>> pairs;
  };
  const std::vector<Shared>& shared() const { return shared_; }

 private:
  struct Way {
    double latency, bandwidth;
  };
  const Way& at(int a, int b) const {
    return ways_[static_cast<std::size_t>(a) * static_cast<std::size_t>(clusters_) +
                 static_cast<std::size_t>(b)];
  }
  void find_shared(const Layout& layout);
  const Network& network_;
  int clusters_;
  std::vector<Way> ways_;
  std::vector<Shared> shared_;
  bool differ_ = false;
};

/// The way of a message from one cluster to all others, or of partial results back.
class ClusterTree {
 public:
  /// The part of the time saved on longer ways that a detour by shorter ways may cost, since others
  /// need the long ways, too (2026-11: a way that adds less than a tenth is near).
  static constexpr double kWorth = 0.1;

  /// Each cluster has the message from the root, or from a nearer cluster on the way, if that is
  /// worth the detour. The detour must cost less than a tenth of the time that it saves on longer
  /// ways. If ways do not differ, all have it from the root.
  ClusterTree(const Ways& ways, int root, std::size_t bytes);
  /// The same if many members of each cluster send.
  static ClusterTree of_many(const Ways& ways, int root, std::size_t bytes);
  /// All from the root.
  static ClusterTree star(const Ways& ways, int root, std::size_t bytes);

  int root() const { return root_; }
  int parent(int cluster) const { return parents_[static_cast<std::size_t>(cluster)]; }
  /// The farthest first.
  const std::vector<int>& children(int cluster) const {
    return children_[static_cast<std::size_t>(cluster)];
  }
  /// The cluster and all that get it from there.
  std::vector<int> below(int cluster) const;
  /// Ways between a cluster and the root.
  int depth(int cluster) const;
  bool is_star() const;
  /// Seconds on the ways, all together: the load on the networks.
  double length() const { return length_; }

 private:
  using Distance = double (Ways::*)(int a, int b, std::size_t bytes) const;
  ClusterTree(const Ways& ways, int root, std::size_t bytes, Distance distance, bool star);
  int root_;
  std::vector<int> parents_;
  std::vector<std::vector<int>> children_;
  double length_ = 0;
};

/// Clusters near each other. One of them, the head, sends for all of them to the other groups.
class ClusterGroups {
 public:
  /// Clusters are near if the way between them takes `bytes` in at most an eighth of the longest
  /// way's time. Each is on its own if ways do not differ.
  ClusterGroups(const Ways& ways, std::size_t bytes);
  int head(int cluster) const { return heads_[static_cast<std::size_t>(cluster)]; }
  bool is_head(int cluster) const { return head(cluster) == cluster; }
  /// For a head: its group, ascending; then the same without the head.
  std::vector<int> group_of(int head) const;
  std::vector<int> others_in_group(int head) const;
  /// Ascending.
  std::vector<int> all_heads() const;
  bool trivial() const;  ///< each cluster is its own group

 private:
  std::vector<int> heads_;
};

}  // namespace isthmus::coll
