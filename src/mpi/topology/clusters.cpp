#include "mpi/topology/clusters.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coll/engine/network.hpp"
#include "core/world/world.hpp"
#include "mpi/native/face.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/cluster_changes.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

enum LinkKind : int { kLocal = 0, kDirect = 1, kGateway = 2 };

struct Known {
  core::World world;
  coll::Network network;  ///< 0: unknown
  core::Group order;      ///< rank -> node
  std::size_t begin = 0;  ///< index of `world`'s first cluster in the grid
};

/// Unknown figures are 0, not a guess.
coll::Network said_of_networks(const char* text, std::span<const core::Cluster> clusters) {
  coll::Network nothing;
  nothing.wan_latency = nothing.wan_bandwidth = 0;
  nothing.link_latency = nothing.link_bandwidth = 0;
  std::vector<std::string> names;
  for (const core::Cluster& cluster : clusters) names.push_back(cluster.name);
  return text == nullptr ? nothing : coll::parse_network(text, nothing, names);
}

/// Drops all clusters but those of the program's MPI_COMM_WORLD; returns how many came before.
std::size_t only_part_of(core::World& world, const std::string& cluster) {
  const auto named = [&](const core::Cluster& each) { return each.name == cluster; };
  const auto mine = std::ranges::find_if(world.clusters, named);
  if (mine == world.clusters.end()) return 0;
  if (mine->part != 0) world.channels.clear();
  const auto part = world.part(mine->part);
  const auto begin = static_cast<std::size_t>(part.data() - world.clusters.data());
  std::vector<core::Cluster> own(part.begin(), part.end());
  const int first = own.front().first;
  for (core::Cluster& each : own) each.first -= first;
  world.clusters = std::move(own);
  return begin;
}

std::optional<Known> read() {
  try {
    const char* const world = setting("ISTHMUS_WORLD");
    if (world == nullptr) return std::nullopt;
    core::World all = core::world_from_json(world);
    coll::Network said = said_of_networks(setting("ISTHMUS_NETWORK"), all.part(0));
    const char* const name = setting("ISTHMUS_CLUSTER");
    const std::size_t begin = only_part_of(all, name == nullptr ? "" : name);
    core::Group order = all.group_of(all.clusters.front().part);
    return Known{std::move(all), std::move(said), std::move(order), begin};
  } catch (const std::exception&) {
    return std::nullopt;  // MPI_Init ends the job for it, with a sentence
  }
}

const std::optional<Known>& known() {
  static const auto& once = *new std::optional<Known>(read());  // outlives static objects that ask
  return once;
}

const core::Cluster* cluster_at(int index) {
  const auto i = static_cast<std::size_t>(index);
  return known() && index >= 0 && i < known()->world.clusters.size() ? &known()->world.clusters[i]
                                                                     : nullptr;
}

/// MPI_COMM_NULL if this process is not in it.
MPI_Comm channel_at(int index) {
  const auto i = static_cast<std::size_t>(index);
  const Grid* const here = grid();
  return here != nullptr && index >= 0 && i < here->channels.size() ? here->channels[i]
                                                                    : MPI_COMM_NULL;
}

int in_fortran(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return native.Comm_c2f(comm);
#elif defined(ISTHMUS_HAS_Comm_c2f) || defined(MPI_Comm_c2f)
  return MPI_Comm_c2f(comm);  // MPICH: a macro, and before 4.1 no function
#else
  return native.Comm_toint(comm);  // the standard ABI's Fortran handles
#endif
}

struct Link {
  LinkKind kind = kGateway;
  double latency = 0, rate = 0;
};

/// The way between the clusters with these numbers in the grid.
coll::Pairs::Way pair_of(const coll::Network& network, std::size_t a, std::size_t b) {
  const auto first = static_cast<int>(std::min(a, b));
  const auto second = static_cast<int>(std::max(a, b));
  coll::Pairs::Way found{first, second, network.wan_latency, network.wan_bandwidth};
  if (network.pairs == nullptr) return found;
  for (const coll::Pairs::Way& way : network.pairs->ways) {
    if (way.a != first || way.b != second) continue;
    if (way.latency > 0) found.latency = way.latency;
    if (way.bandwidth > 0) found.bandwidth = way.bandwidth;
  }
  return found;
}

Link link_between(std::size_t a, std::size_t b) {
  const coll::Network& network = known()->network;
  if (a == b) return {kLocal, network.link_latency, network.link_bandwidth};
  const coll::Pairs::Way pair = pair_of(network, a + known()->begin, b + known()->begin);
  const auto as_said = [&](LinkKind kind, double rtt, double rate) {
    return Link{kind, rtt > 0 ? rtt / 2 : pair.latency, rate > 0 ? rate : pair.bandwidth};
  };
  const auto joins = [a, b](const auto& link) {
    const std::size_t from = known()->begin;
    return std::minmax(link.a, link.b) == std::minmax(a + from, b + from);
  };
  const core::World& world = known()->world;
  if (const auto at = std::ranges::find_if(world.direct, joins); at != world.direct.end()) {
    return as_said(kDirect, at->rtt, at->rate);
  }
  if (const auto at = std::ranges::find_if(world.links, joins); at != world.links.end()) {
    return as_said(kGateway, at->rtt, at->rate);
  }
  return as_said(kGateway, 0, 0);
}

}  // namespace
}  // namespace isthmus::face

using namespace isthmus::face;

int isthmus_topology_clusters() {
  return known() ? static_cast<int>(known()->world.clusters.size()) : 0;
}

int isthmus_topology_cluster_of(int rank) {
  if (!known() || rank < 0 || rank >= known()->world.size()) return -1;
  const int node = known()->order.node(rank);
  return static_cast<int>(known()->world.cluster_of(node));
}

int isthmus_topology_cluster_size(int cluster) {
  const auto* const found = cluster_at(cluster);
  return found == nullptr ? -1 : found->size;
}

const char* isthmus_topology_cluster_name(int cluster) {
  const auto* const found = cluster_at(cluster);
  return found == nullptr ? "" : found->name.c_str();
}

int isthmus_topology_link(int a, int b, double* latency, double* rate) {
  if (cluster_at(a) == nullptr || cluster_at(b) == nullptr) return -1;
  const Link link = link_between(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  if (latency != nullptr) *latency = link.latency;
  if (rate != nullptr) *rate = link.rate;
  return link.kind;
}

int isthmus_topology_cluster_comm(void* comm) {
  if (grid() == nullptr) return -1;
  *static_cast<MPI_Comm*>(comm) = grid()->cluster_comm;
  return 0;
}

int isthmus_topology_cluster_comm_f() {
  return in_fortran(grid() == nullptr ? MPI_COMM_WORLD : grid()->cluster_comm);
}

int isthmus_topology_channels() {
  return known() ? static_cast<int>(known()->world.channels.size()) : 0;
}

const char* isthmus_topology_channel_name(int channel) {
  const bool is_one = channel >= 0 && channel < isthmus_topology_channels();
  return is_one ? known()->world.channels[static_cast<std::size_t>(channel)].name.c_str() : "";
}

int isthmus_topology_channel_comm(int channel, void* comm) {
  *static_cast<MPI_Comm*>(comm) = channel_at(channel);
  return channel_at(channel) == MPI_COMM_NULL ? -1 : 0;
}

int isthmus_topology_channel_comm_f(int channel) { return in_fortran(channel_at(channel)); }

int isthmus_topology_changes() { return ClusterChanges::all().count(); }

int isthmus_topology_change(int number, const char** cluster, const char** why) {
  const ClusterChanges::Change* const change = ClusterChanges::all().at(number);
  if (cluster != nullptr) *cluster = change == nullptr ? "" : change->cluster.c_str();
  if (why != nullptr) *why = change == nullptr ? "" : change->why.c_str();
  return change == nullptr ? -1 : static_cast<int>(change->kind);
}
