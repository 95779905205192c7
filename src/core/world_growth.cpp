// The growth of a world, and its parts.
#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/world.hpp"

namespace isthmus::core {

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
  if (growth.like >= clusters.size()) refuse("it is like none that is known");
  if (growth.cluster.size < 1 || growth.cluster.size > INT_MAX - size()) refuse("it has no size");
  const bool guest = growth.cluster.is_guest();
  for (Gateway& gateway : gateways) {
    if (!guest && gateway.serves(growth.like)) gateway.clusters.push_back(growth.index);
    // Guests are one link further: their own run's gateway is in between.
    if (!gateway.hops.empty()) gateway.hops.push_back(gateway.hops[growth.like] + (guest ? 1 : 0));
  }
  Cluster added = growth.cluster;
  added.first = size();
  added.net = clusters[growth.like].net;
  clusters.push_back(std::move(added));
  return true;
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

std::string growth_to_json(const Growth& growth) {
  const Cluster& cluster = growth.cluster;
  nlohmann::json json{{"index", growth.index}, {"like", growth.like},
                      {"name", cluster.name},  {"size", cluster.size},
                      {"arch", cluster.arch},  {"long_double", cluster.long_double},
                      {"part", cluster.part}};
  if (cluster.is_guest()) {
    json["run"] = cluster.run;
    json["there"] = cluster.there;
  }
  return json.dump();
}

Growth growth_from_json(const std::string& text) {
  const auto wrong = [] {
    return std::invalid_argument("the growth of the world is no JSON of it");
  };
  const auto root = nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object()) throw wrong();
  try {
    Growth growth;
    growth.index = root.at("index").get<std::size_t>();
    growth.like = root.at("like").get<std::size_t>();
    growth.cluster.name = root.at("name").get<std::string>();
    growth.cluster.size = root.at("size").get<int>();
    growth.cluster.arch = root.value("arch", "");
    growth.cluster.long_double = root.value("long_double", "");
    growth.cluster.part = root.at("part").get<int>();
    growth.cluster.run = root.value("run", "");
    growth.cluster.there = root.value("there", 0);
    if (growth.cluster.there < 0 || growth.cluster.size > INT_MAX - growth.cluster.there) {
      throw wrong();
    }
    return growth;
  } catch (const nlohmann::json::exception&) {
    throw wrong();
  }
}

}  // namespace isthmus::core
