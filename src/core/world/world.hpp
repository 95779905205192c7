// The members of the grid: the clusters, their processes and their gateways.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/datatype/format.hpp"
#include "core/world/group.hpp"

namespace isthmus::core {

/// The transport between two nodes that could use either; Auto: UCX if both have it.
enum class Net : std::uint8_t { Tcp, Ucx, Auto };

/// "tcp", "ucx", "auto".
const char* name_of(Net net);
/// Throws std::invalid_argument with a sentence.
Net net_from(const std::string& name);

/// It stands in the network of each of its clusters. Their processes are connected to it, and it
/// passes frames from one to the other by itself.
struct Gateway {
  NodeId node = kNobody;
  std::vector<std::size_t> clusters{};   ///< indices into World::clusters; empty: it only forwards
  std::vector<std::string> addresses{};  ///< "unix:/path" or "tcp:host:port", best first
  std::vector<int> hops{};  ///< links between it and each cluster, by index; empty: all alike
  std::string name{};       ///< for messages, if it has no cluster
  bool late = false;        ///< it came to a world that was running, for clusters to come

  bool serves(std::size_t cluster) const {
    return std::find(clusters.begin(), clusters.end(), cluster) != clusters.end();
  }
};

struct Cluster {
  std::string name;
  int first = 0;              ///< node of its native rank 0
  int size = 0;               ///< its ranks; clusters hold contiguous blocks of nodes in order
  std::string arch{};         ///< of its hosts, as in uname; empty: unknown
  std::string byte_order{};   ///< "little" or "big"; empty: unknown
  std::string long_double{};  ///< its `long double`: "bits of precision/bytes"; empty: unknown
  int part = 0;               ///< which MPI_COMM_WORLD its ranks are of: 0, and one for each spawn
  Net net = Net::Tcp;         ///< between its processes and their gateways
  bool encrypt = true;        ///< the same, if these are on different hosts
  /// World ranks of its processes, ascending as native ranks do; empty: they are the nodes.
  std::vector<int> ranks{};
  std::string run{};  ///< of a guest: the job of the other run that it belongs to
  int there = 0;      ///< of a guest: its own run's node for its native rank 0

  bool is_guest() const { return !run.empty(); }
};

/// The format of its processes' memory. It counts as this process's if it is unknown.
Format format_of(const Cluster& cluster);
/// Whether a `long double` of one has no value in the other that Isthmus knows how to find.
bool long_double_is_lost(const Cluster& a, const Cluster& b);

/// Two clusters, by index, whose processes reach each other without gateways.
struct Direct {
  std::size_t a = 0, b = 0;
  bool encrypt = true;
  bool tcp = true;           ///< their hosts reach each other
  bool shm = false;          ///< all processes of both are on one host
  Net net = Net::Tcp;        ///< without `shm`
  double rate = 0;           ///< bytes per second; 0: unknown
  double rtt = 0;            ///< seconds; 0: unknown
  int streams = 0;           ///< of each conduit; 0: as many as it needs
  double patience = 600;     ///< seconds that a conduit may be silent
  std::string congestion{};  ///< of its streams' TCP; empty: the kernel's default
};

/// The grid file's figures of the network between two clusters, by index, that gateways join.
struct Link {
  std::size_t a = 0, b = 0;
  double rate = 0;  ///< bytes per second; 0: unknown
  double rtt = 0;   ///< seconds; 0: unknown
};

/// A link between two clusters that a program may choose for a communicator, by its name. Its
/// gateways, of both ends, have no other link between these clusters.
struct NamedLink {
  std::string name;
  std::size_t a = 0, b = 0;
  bool direct = false;  ///< processes reach each other by it
  std::vector<NodeId> gateways{};
};

/// A communicator of the grid file, over whole clusters and over chosen hosts of others.
struct GridChannel {
  struct Part {
    std::size_t cluster = 0;            ///< index in World::clusters
    std::vector<std::string> hosts{};   ///< whose processes are in it
    std::vector<std::string> others{};  ///< the cluster's other hosts; empty: all of it
  };
  std::string name;
  std::string link{};  ///< the name of the link for its messages; empty: the usual way
  std::vector<Part> parts{};

  /// Whether a process is in it, by the cluster and the host. Throws std::invalid_argument with a
  /// sentence if the host is none of the cluster's and the answer depends on it.
  bool has(std::size_t cluster, const std::string& host) const;
};

/// A cluster that has been added while the program runs: processes that were spawned, or guests.
struct Growth {
  std::size_t index = 0;  ///< in World::clusters
  std::size_t like = 0;   ///< the cluster whose gateways are its own, or lead to it
  Cluster cluster;        ///< without `first`
  /// If it is like no other cluster: its gateways, and the number of links from others to it.
  std::vector<NodeId> gateways{};
  std::map<NodeId, int> hops{};
};

/// Grows at its end only, so a node keeps its number as long as the grid lives. The same on every
/// node of the grid, but for `addresses`, which each cluster sees its own way.
struct World {
  std::vector<Cluster> clusters;
  std::vector<Gateway> gateways;
  std::vector<Direct> direct;
  std::vector<Link> links;
  std::vector<NamedLink> named;
  std::vector<GridChannel> channels;  ///< of the first part

  int size() const;
  /// Ranks of the first part, for values that must not change as the world grows.
  int first_size() const;
  /// The clusters of one part, which are next to each other.
  std::span<const Cluster> part(int number) const;
  /// The node of a guest, by the number that its own run has for it. Empty: it is not known.
  std::optional<NodeId> guest(const std::string& run, NodeId there) const;
  /// Adds a cluster. False: it is there already. Throws std::invalid_argument if one before it is
  /// missing, or it is not a valid cluster.
  bool grow(const Growth& growth);
  /// Adds a gateway for clusters to come, unless it is known.
  void add_gateway(NodeId node, const std::string& name);
  /// Some cluster has several gateways, or some gateway only forwards: the grid may go on without
  /// one.
  bool has_spare_gateways() const;
  /// Some cluster reaches another only over a third one.
  bool has_long_ways() const;
  /// Null: this world has no such gateway.
  const Gateway* gateway(NodeId node) const;
  /// All processes of the first part reach each other through shared memory.
  bool on_one_host() const;
  /// Index of the cluster that holds a process, 0 <= node < size(). O(log clusters).
  std::size_t cluster_of(int node) const;
  /// As `cluster_of`; throws std::out_of_range for a node that is not a process of this world.
  std::size_t cluster_of_node(NodeId process) const;
  /// The world rank of a process, by which users know it; other numbers stay as they are.
  int rank_of(NodeId process) const;
  /// The MPI_COMM_WORLD of a part: world rank -> node.
  Group group_of(int part) const;
  /// The number of a name in `named`, which links between several pairs of clusters may share.
  LinkChoice choice_of(const std::string& link) const;
  /// For messages: `rank 3`.
  std::string rank_name(NodeId process) const;
  /// Throws std::invalid_argument if the ranks of clusters are not a permutation of the nodes.
  void check_ranks() const;
  /// For messages: `rank 3 (cluster "east")`, `the gateway of cluster "east"`, `the gateway of
  /// clusters "east" and "west"`. Or `gateway 1 of ...` if there are several of those, counted from
  /// 0.
  std::string name_of(NodeId node) const;
  /// A gateway's label, for tables: `east/0`, `east+west/1`.
  std::string label_of(NodeId node) const;

 private:
  void grow_like(const Growth& growth);
  void grow_by_gateways(const Growth& growth);
};

/// `cluster "a"`, `clusters "a" and "b"`; for messages.
std::string quoted_clusters(const World& world, const std::vector<std::size_t>& clusters);

/// To and from the JSON text that travels in ISTHMUS_WORLD:
///   {"clusters":[{"name":"east","size":4,"arch":"x86_64","byteorder":"little","long_double":"64/16",
///      "part":0,"ranks":"0-3,8","run":"","there":0,"net":"tcp","encrypt":true},...],
///    "gateways":[{"node":2147483648,"clusters":[0],"addresses":["unix:/...","tcp:..."],
///      "hops":[0,1],"name":"","late":false},...],
///    "direct":[{"between":[0,1],"encrypt":true,"rate":125e6,"rtt":0.0116,"streams":0,
///      "patience":600,"congestion":"","net":"tcp"},...],
///    "channels":[{"name":"half","link":"","parts":[{"cluster":0,"hosts":["n1"],
///      "others":["n2"]}]},...]}
/// The keys `arch`, `byteorder`, `long_double`, `part`, `ranks`, `run`, `there`, `net`, `encrypt`,
/// `hops`, `name`, `late`, `direct` and `channels` may be absent, and in `direct` all but
/// `between`. `world_from_json` throws std::invalid_argument with a sentence that names the wrong
/// key.
std::string world_to_json(const World& world);
World world_from_json(const std::string& text);

/// As {"index":2,"like":0,"name":"east/1","size":4,"part":1,...}, or without `like`, with
/// {"gateways":[2147483650],"hops":[[2147483648,1],...],"net":"tcp","encrypt":true}.
std::string growth_to_json(const Growth& growth);
/// Throws as world_from_json.
Growth growth_from_json(const std::string& text);

}  // namespace isthmus::core
