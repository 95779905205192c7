#include "core/world/world.hpp"

#include <climits>
#include <stdexcept>

namespace isthmus::core {

Format format_of(const Cluster& cluster) {
  Format format = own_format();
  if (!cluster.byte_order.empty()) {
    format.order = cluster.byte_order == "big" ? ByteOrder::Big : ByteOrder::Little;
  }
  if (!cluster.long_double.empty()) {
    format.long_double = cluster.long_double == "64/16"    ? LongDouble::Extended
                         : cluster.long_double == "113/16" ? LongDouble::Quad
                                                           : LongDouble::Other;
  }
  return format;
}

bool long_double_is_lost(const Cluster& a, const Cluster& b) {
  if (a.long_double.empty() || b.long_double.empty() || a.long_double == b.long_double) {
    return false;
  }
  return format_of(a).long_double == LongDouble::Other ||
         format_of(b).long_double == LongDouble::Other;
}

int World::size() const {
  return clusters.empty() ? 0 : clusters.back().first + clusters.back().size;
}

bool World::on_one_host() const {
  const auto shared =
      std::count_if(direct.begin(), direct.end(), [](const Direct& link) { return link.shm; });
  const std::size_t first = part(0).size();
  return static_cast<std::size_t>(shared) == first * (first - 1) / 2;
}

std::size_t World::cluster_of(int node) const {
  const auto after =
      std::upper_bound(clusters.begin(), clusters.end(), node,
                       [](int r, const Cluster& cluster) { return r < cluster.first; });
  return static_cast<std::size_t>(after - clusters.begin()) - 1;
}

std::size_t World::cluster_of_node(NodeId process) const {
  if (process >= static_cast<NodeId>(size())) {
    throw std::out_of_range("rank " + std::to_string(process) +
                            " is not of this world, which has " + std::to_string(size()) +
                            " ranks");
  }
  return cluster_of(static_cast<int>(process));
}

const char* name_of(Net net) { return net == Net::Ucx ? "ucx" : net == Net::Auto ? "auto" : "tcp"; }

Net net_from(const std::string& name) {
  for (const Net net : {Net::Tcp, Net::Ucx, Net::Auto}) {
    if (name == name_of(net)) return net;
  }
  throw std::invalid_argument("is \"" + name + "\"; allowed are tcp, ucx and auto");
}

LinkChoice World::choice_of(const std::string& link) const {
  const auto found = std::find_if(named.begin(), named.end(),
                                  [&](const NamedLink& each) { return each.name == link; });
  return static_cast<LinkChoice>(kFirstNamedLink + (found - named.begin()));
}

namespace {

/// The domain may be missing in one of them.
bool same_host(const std::string& a, const std::string& b) {
  const auto alone = [](const std::string& name) { return name.find('.') == std::string::npos; };
  if (alone(a) == alone(b)) return a == b;
  return a.substr(0, a.find('.')) == b.substr(0, b.find('.'));
}

}  // namespace

bool GridChannel::has(std::size_t cluster, const std::string& host) const {
  const auto named = [&](const std::string& each) { return same_host(each, host); };
  for (const Part& part : parts) {
    if (part.cluster != cluster) continue;
    if (part.others.empty() || std::ranges::any_of(part.hosts, named)) return true;
    if (std::ranges::any_of(part.others, named)) return false;
    throw std::invalid_argument(
        "this host is not one of the 'hosts' of its cluster in the grid file, so channel \"" +
        name +
        "\" cannot tell whether its ranks belong to it; name hosts there as `hostname` prints "
        "them");
  }
  return false;
}

// ---- growth, and the parts --------------------------------------------------------------------

int World::first_size() const {
  const auto first = part(0);
  return first.empty() ? 0 : first.back().first + first.back().size;
}

std::span<const Cluster> World::part(int number) const {
  const auto is_of = [number](const Cluster& cluster) { return cluster.part == number; };
  const auto first = std::find_if(clusters.begin(), clusters.end(), is_of);
  const auto last = std::find_if_not(first, clusters.end(), is_of);
  return {first, last};
}

bool World::grow(const Growth& growth) {
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument("the world cannot grow by cluster \"" + growth.cluster.name +
                                "\": " + why);
  };
  if (growth.index < clusters.size()) return false;
  if (growth.index > clusters.size()) refuse("one before it is not known");
  const bool like_another = growth.gateways.empty();
  if (like_another && growth.like >= clusters.size()) refuse("it is like none that is known");
  if (growth.cluster.size < 1 || growth.cluster.size > INT_MAX - size()) refuse("it has no size");
  Cluster added = growth.cluster;
  added.first = size();
  if (like_another) {
    grow_like(growth);
    added.net = clusters[growth.like].net;
    added.encrypt = clusters[growth.like].encrypt;
  } else {
    grow_by_gateways(growth);
  }
  clusters.push_back(std::move(added));
  return true;
}

void World::grow_like(const Growth& growth) {
  const bool guest = growth.cluster.is_guest();
  for (Gateway& gateway : gateways) {
    if (!guest && gateway.serves(growth.like)) gateway.clusters.push_back(growth.index);
    // Guests are one link further: their own run's gateway is in between.
    if (!gateway.hops.empty()) gateway.hops.push_back(gateway.hops[growth.like] + (guest ? 1 : 0));
  }
}

void World::grow_by_gateways(const Growth& growth) {
  for (const NodeId node : growth.gateways) add_gateway(node, growth.cluster.name);
  for (Gateway& gateway : gateways) {
    const auto own = std::find(growth.gateways.begin(), growth.gateways.end(), gateway.node);
    if (own != growth.gateways.end()) gateway.clusters.push_back(growth.index);
    const auto hops = growth.hops.find(gateway.node);
    if (!gateway.hops.empty()) {
      gateway.hops.push_back(hops == growth.hops.end() ? 0 : hops->second);
    }
  }
}

void World::add_gateway(NodeId node, const std::string& name) {
  if (gateway(node) == nullptr) gateways.push_back({.node = node, .name = name, .late = true});
}

std::optional<NodeId> World::guest(const std::string& run, NodeId there) const {
  for (const Cluster& cluster : clusters) {
    const auto begin = static_cast<NodeId>(cluster.there);
    if (cluster.run != run || there < begin) continue;
    if (there - begin < static_cast<NodeId>(cluster.size)) {
      return static_cast<NodeId>(cluster.first) + (there - begin);
    }
  }
  return std::nullopt;
}

// ---- ranks --------------------------------------------------------------------------------------

int World::rank_of(NodeId process) const {
  const auto node = static_cast<int>(process);
  if (process >= static_cast<NodeId>(size())) return node;
  const Cluster& home = clusters[cluster_of(node)];
  return home.ranks.empty() ? node : home.ranks[static_cast<std::size_t>(node - home.first)];
}

Group World::group_of(int number) const {
  const auto mine = part(number);
  if (mine.empty()) return {};
  const int begin = mine.front().first;
  const int count = mine.back().first + mine.back().size - begin;
  if (mine.front().ranks.empty()) return Group::range(begin, count);
  std::vector<int> nodes(static_cast<std::size_t>(count));
  for (int node = begin; node < begin + count; ++node) {
    nodes[static_cast<std::size_t>(rank_of(static_cast<NodeId>(node)))] = node;
  }
  return Group::of(nodes);
}

std::string World::rank_name(NodeId process) const {
  return "rank " + std::to_string(rank_of(process));
}

void World::check_ranks() const {
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("the world description is wrong: " + why);
  };
  const auto mapped = [](const Cluster& cluster) { return !cluster.ranks.empty(); };
  if (std::none_of(clusters.begin(), clusters.end(), mapped)) return;
  std::vector<bool> seen(static_cast<std::size_t>(first_size()));
  for (const Cluster& cluster : clusters) {
    const std::string name = "cluster \"" + cluster.name + '"';
    if (cluster.part != 0 && mapped(cluster)) refuse(name + " was spawned, and has a map");
    if (cluster.part != 0) continue;
    if (cluster.ranks.size() != static_cast<std::size_t>(cluster.size)) {
      refuse(name + " has " + std::to_string(cluster.size) + " ranks, and " +
             std::to_string(cluster.ranks.size()) + " in the map");
    }
    if (!std::is_sorted(cluster.ranks.begin(), cluster.ranks.end())) {
      refuse(name + " has ranks that do not ascend");
    }
    for (const int rank : cluster.ranks) {
      if (rank >= first_size() || seen[static_cast<std::size_t>(rank)]) {
        refuse(name + " has rank " + std::to_string(rank) + ", which is not its own");
      }
      seen[static_cast<std::size_t>(rank)] = true;
    }
  }
}

}  // namespace isthmus::core
