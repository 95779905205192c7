// Worlds and their growth as the JSON text that travels between processes.
#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/wire/wire.hpp"
#include "core/world/rank_list.hpp"
#include "core/world/world.hpp"

namespace isthmus::core {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw std::invalid_argument("the world description is wrong: " + where + " " + why);
}

const json& member(const json& object, const std::string& where, const char* key) {
  if (!object.is_object()) refuse(where, "is not an object");
  const auto found = object.find(key);
  if (found == object.end()) refuse(where, std::string("lacks the key \"") + key + "\"");
  return *found;
}

const json& list(const json& object, const std::string& where, const char* key) {
  const json& value = member(object, where, key);
  if (!value.is_array()) refuse(where + "." + key, "is not a list");
  return value;
}

std::string text_or_none(const json& object, const std::string& where, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) refuse(where + "." + key, "is not a text");
  return found->get<std::string>();
}

std::string text(const json& value, const std::string& where) {
  if (!value.is_string()) refuse(where, "is not a text");
  std::string s = value.get<std::string>();
  if (s.empty()) refuse(where, "is empty");
  return s;
}

std::uint64_t number(const json& object, const std::string& where, const char* key,
                     std::uint64_t least, std::uint64_t most) {
  const json& value = member(object, where, key);
  if (!value.is_number_integer()) refuse(where + "." + key, "is not a whole number");
  const bool negative = !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
  const auto n = negative ? 0 : value.get<std::uint64_t>();
  if (negative || n < least || n > most) {
    refuse(where + "." + key, "is " + value.dump() + ", but must be from " + std::to_string(least) +
                                  " to " + std::to_string(most));
  }
  return n;
}

std::string element(const char* name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

double amount(const json& object, const std::string& where, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return 0;
  if (!found->is_number() || !(found->get<double>() >= 0) || !(found->get<double>() < 1e15)) {
    refuse(where + "." + key, "is " + found->dump() + ", which is no amount");
  }
  return found->get<double>();
}

/// The two clusters that `link` is between.
std::pair<std::size_t, std::size_t> read_between(const json& link, const std::string& where,
                                                 std::size_t clusters) {
  const json& between = list(link, where, "between");
  if (between.size() != 2) refuse(where + ".between", "does not name two clusters");
  for (const json& cluster : between) {
    if (!cluster.is_number_unsigned() || cluster.get<std::size_t>() >= clusters) {
      refuse(where + ".between", "is " + between.dump() + ", which are not two clusters");
    }
  }
  if (between[0] == between[1]) refuse(where + ".between", "names one cluster twice");
  return {between[0].get<std::size_t>(), between[1].get<std::size_t>()};
}

Net read_net(const json& object, const std::string& where) {
  const std::string name = text_or_none(object, where, "net");
  try {
    return name.empty() ? Net::Tcp : net_from(name);
  } catch (const std::invalid_argument& wrong) {
    refuse(where + ".net", wrong.what());
  }
}

/// For a cluster or a link: everything is encrypted unless the value is false.
bool read_encrypt(const json& object) {
  const auto found = object.find("encrypt");
  return found == object.end() || *found != false;
}

Cluster read_one_cluster(const json& entry, const std::string& where) {
  Cluster cluster;
  cluster.name = text(member(entry, where, "name"), where + ".name");
  cluster.size = static_cast<int>(number(entry, where, "size", 1, INT32_MAX));
  cluster.arch = text_or_none(entry, where, "arch");
  cluster.byte_order = text_or_none(entry, where, "byteorder");
  cluster.long_double = text_or_none(entry, where, "long_double");
  cluster.net = read_net(entry, where);
  cluster.encrypt = read_encrypt(entry);
  if (entry.contains("part")) {
    cluster.part = static_cast<int>(number(entry, where, "part", 0, INT32_MAX));
  }
  cluster.run = text_or_none(entry, where, "run");
  if (cluster.is_guest()) {
    cluster.there = static_cast<int>(number(entry, where, "there", 0, INT32_MAX - cluster.size));
  }
  if (const std::string ranks = text_or_none(entry, where, "ranks"); !ranks.empty()) {
    try {
      cluster.ranks = ranks_from_text(ranks, cluster.size);
    } catch (const std::invalid_argument& wrong) {
      refuse(where + ".ranks", wrong.what());
    }
  }
  return cluster;
}

std::size_t read_cluster(const json& value, const std::string& where, const World& world) {
  if (!value.is_number_unsigned() || value.get<std::size_t>() >= world.clusters.size()) {
    refuse(where, "is " + value.dump() + ", which is not a cluster");
  }
  return value.get<std::size_t>();
}

Gateway read_gateway(const json& entry, const std::string& where, const World& world) {
  Gateway gateway;
  gateway.node = static_cast<NodeId>(number(entry, where, "node", kFirstGateway, kNobody - 1));
  for (const json& cluster : list(entry, where, "clusters")) {
    const std::size_t index = read_cluster(cluster, where + ".clusters", world);
    if (gateway.serves(index)) refuse(where + ".clusters", "names a cluster twice");
    gateway.clusters.push_back(index);
  }
  const json& addresses = list(entry, where, "addresses");
  for (std::size_t k = 0; k < addresses.size(); ++k) {
    gateway.addresses.push_back(text(addresses[k], where + "." + element("addresses", k)));
  }
  if (entry.contains("hops")) {
    for (const json& hops : list(entry, where, "hops")) {
      if (!hops.is_number_unsigned() || hops.get<std::uint64_t>() > kMaxHops) {
        refuse(where + ".hops", "holds " + hops.dump() + ", which is not a number of links");
      }
      gateway.hops.push_back(hops.get<int>());
    }
  }
  if (!gateway.hops.empty() && gateway.hops.size() != world.clusters.size()) {
    refuse(where + ".hops", "does not have an entry for each cluster");
  }
  gateway.name = text_or_none(entry, where, "name");
  gateway.late = entry.value("late", json(false)) == true;
  for (const Gateway& other : world.gateways) {
    if (other.node == gateway.node) refuse(where + ".node", "names another gateway as well");
  }
  return gateway;
}

void read_gateways(const json& gateways, World& world) {
  for (std::size_t i = 0; i < gateways.size(); ++i) {
    world.gateways.push_back(read_gateway(gateways[i], element("gateways", i), world));
  }
}

void read_direct(const json& links, World& world) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string where = element("direct", i);
    const auto [a, b] = read_between(links[i], where, world.clusters.size());
    Direct link{a, b};
    link.encrypt = read_encrypt(links[i]);
    link.tcp = links[i].value("tcp", json(true)) != false;
    link.shm = links[i].value("shm", json(false)) == true;
    link.rate = amount(links[i], where, "rate");
    link.rtt = amount(links[i], where, "rtt");
    link.streams = static_cast<int>(std::min(256.0, amount(links[i], where, "streams")));
    if (const double patience = amount(links[i], where, "patience"); patience > 0) {
      link.patience = patience;
    }
    link.congestion = text_or_none(links[i], where, "congestion");
    link.net = read_net(links[i], where);
    world.direct.push_back(link);
  }
}

void read_links(const json& links, World& world) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string where = element("links", i);
    const auto [a, b] = read_between(links[i], where, world.clusters.size());
    world.links.push_back({a, b, amount(links[i], where, "rate"), amount(links[i], where, "rtt")});
  }
}

void read_named(const json& links, World& world) {
  constexpr std::size_t kMost = UINT16_MAX - kFirstNamedLink;
  if (links.size() > kMost) refuse("named", "has too many links");
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string where = element("named", i);
    const auto [a, b] = read_between(links[i], where, world.clusters.size());
    NamedLink link{text_or_none(links[i], where, "name"), a, b};
    if (link.name.empty()) refuse(where + ".name", "is missing");
    link.direct = links[i].value("direct", json(false)) == true;
    for (const json& node : list(links[i], where, "gateways")) {
      if (!node.is_number_unsigned() || world.gateway(node.get<NodeId>()) == nullptr) {
        refuse(where + ".gateways", "holds " + node.dump() + ", which is no gateway");
      }
      link.gateways.push_back(node.get<NodeId>());
    }
    world.named.push_back(std::move(link));
  }
}

std::vector<std::string> read_hosts(const json& part, const std::string& where, const char* key) {
  std::vector<std::string> hosts;
  for (const json& host : list(part, where, key)) hosts.push_back(text(host, where + "." + key));
  return hosts;
}

void read_channels(const json& channels, World& world) {
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::string where = element("channels", i);
    GridChannel channel{text(member(channels[i], where, "name"), where + ".name"),
                        text_or_none(channels[i], where, "link")};
    for (const json& part : list(channels[i], where, "parts")) {
      const json& cluster = member(part, where + ".parts", "cluster");
      channel.parts.push_back({read_cluster(cluster, where + ".parts.cluster", world),
                               read_hosts(part, where + ".parts", "hosts"),
                               read_hosts(part, where + ".parts", "others")});
    }
    world.channels.push_back(std::move(channel));
  }
}

}  // namespace

std::string world_to_json(const World& world) {
  json clusters = json::array();
  for (const Cluster& cluster : world.clusters) {
    clusters.push_back({{"name", cluster.name},
                        {"size", cluster.size},
                        {"arch", cluster.arch},
                        {"byteorder", cluster.byte_order},
                        {"long_double", cluster.long_double},
                        {"part", cluster.part},
                        {"net", name_of(cluster.net)},
                        {"encrypt", cluster.encrypt}});
    if (!cluster.ranks.empty()) clusters.back()["ranks"] = ranks_to_text(cluster.ranks);
    if (cluster.is_guest()) {
      clusters.back()["run"] = cluster.run;
      clusters.back()["there"] = cluster.there;
    }
  }
  json gateways = json::array();
  for (const Gateway& gateway : world.gateways) {
    gateways.push_back({{"node", gateway.node},
                        {"clusters", gateway.clusters},
                        {"addresses", gateway.addresses},
                        {"hops", gateway.hops},
                        {"name", gateway.name},
                        {"late", gateway.late}});
  }
  json direct = json::array();
  for (const Direct& link : world.direct) {
    direct.push_back({{"between", {link.a, link.b}},
                      {"encrypt", link.encrypt},
                      {"tcp", link.tcp},
                      {"shm", link.shm},
                      {"rate", link.rate},
                      {"rtt", link.rtt},
                      {"streams", link.streams},
                      {"patience", link.patience},
                      {"congestion", link.congestion},
                      {"net", name_of(link.net)}});
  }
  json links = json::array();
  for (const Link& link : world.links) {
    links.push_back({{"between", {link.a, link.b}}, {"rate", link.rate}, {"rtt", link.rtt}});
  }
  json named = json::array();
  for (const NamedLink& link : world.named) {
    named.push_back({{"name", link.name},
                     {"between", {link.a, link.b}},
                     {"direct", link.direct},
                     {"gateways", link.gateways}});
  }
  json channels = json::array();
  for (const GridChannel& channel : world.channels) {
    json parts = json::array();
    for (const GridChannel::Part& part : channel.parts) {
      parts.push_back({{"cluster", part.cluster}, {"hosts", part.hosts}, {"others", part.others}});
    }
    channels.push_back({{"name", channel.name}, {"link", channel.link}, {"parts", parts}});
  }
  return json{{"clusters", clusters}, {"gateways", gateways}, {"direct", direct},
              {"links", links},       {"named", named},       {"channels", channels}}
      .dump();
}

World world_from_json(const std::string& text_) {
  const json root = json::parse(text_, nullptr, false);
  if (root.is_discarded()) refuse("the text", "is not JSON");
  World world;
  const json& clusters = list(root, "the world", "clusters");
  if (clusters.empty()) refuse("clusters", "is empty");
  int next = 0;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const std::string where = element("clusters", i);
    Cluster cluster = read_one_cluster(clusters[i], where);
    if (cluster.size > INT32_MAX - next) {
      refuse(where + ".size", "is " + std::to_string(cluster.size) + ", which is too many ranks");
    }
    cluster.first = next;
    next += cluster.size;
    for (const Cluster& other : world.clusters) {
      if (other.name == cluster.name) refuse(where + ".name", "names another cluster as well");
    }
    world.clusters.push_back(std::move(cluster));
  }
  world.check_ranks();
  read_gateways(list(root, "the world", "gateways"), world);
  if (root.contains("direct")) read_direct(list(root, "the world", "direct"), world);
  if (root.contains("links")) read_links(list(root, "the world", "links"), world);
  if (root.contains("named")) read_named(list(root, "the world", "named"), world);
  if (root.contains("channels")) read_channels(list(root, "the world", "channels"), world);
  return world;
}

std::string growth_to_json(const Growth& growth) {
  const Cluster& cluster = growth.cluster;
  json text{{"index", growth.index},
            {"name", cluster.name},
            {"size", cluster.size},
            {"arch", cluster.arch},
            {"part", cluster.part},
            {"byteorder", cluster.byte_order},
            {"long_double", cluster.long_double}};
  if (growth.gateways.empty()) {
    text["like"] = growth.like;
  } else {
    text["gateways"] = growth.gateways;
    text["hops"] = growth.hops;
    text["net"] = name_of(cluster.net);
    text["encrypt"] = cluster.encrypt;
  }
  if (cluster.is_guest()) {
    text["run"] = cluster.run;
    text["there"] = cluster.there;
  }
  return text.dump();
}

namespace {

void read_own_gateways(const json& root, Growth& growth) {
  growth.gateways = root.at("gateways").get<std::vector<NodeId>>();
  growth.hops = root.at("hops").get<std::map<NodeId, int>>();
  growth.cluster.net = read_net(root, "the growth");
  growth.cluster.encrypt = read_encrypt(root);
  const auto few = [](const auto& entry) { return entry.second >= 0 && entry.second <= kMaxHops; };
  if (growth.gateways.empty() || !std::ranges::all_of(growth.gateways, is_gateway) ||
      !std::ranges::all_of(growth.hops, few)) {
    refuse("the growth", "has wrong gateways");
  }
}

}  // namespace

Growth growth_from_json(const std::string& text) {
  const auto wrong = [] { return std::invalid_argument("the growth of the world is not JSON"); };
  const auto root = json::parse(text, nullptr, false);
  if (!root.is_object()) throw wrong();
  try {
    Growth growth;
    growth.index = root.at("index").get<std::size_t>();
    if (root.contains("gateways")) {
      read_own_gateways(root, growth);
    } else {
      growth.like = root.at("like").get<std::size_t>();
    }
    growth.cluster.name = root.at("name").get<std::string>();
    growth.cluster.size = root.at("size").get<int>();
    growth.cluster.arch = root.value("arch", "");
    growth.cluster.byte_order = root.value("byteorder", "");
    growth.cluster.long_double = root.value("long_double", "");
    growth.cluster.part = root.at("part").get<int>();
    growth.cluster.run = root.value("run", "");
    growth.cluster.there = root.value("there", 0);
    if (growth.cluster.there < 0 || growth.cluster.size > INT_MAX - growth.cluster.there) {
      throw wrong();
    }
    return growth;
  } catch (const json::exception&) {
    throw wrong();
  }
}

}  // namespace isthmus::core
