#include "daemon/control/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/base/any_json.hpp"
#include "core/base/hex.hpp"
#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr double kMostGrace = 60;  // seconds

// An object of a message, with its place in the message for error sentences.
class Keys {
 public:
  Keys(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) wrong("", "must be an object");
  }

  template <class T>
  T get(const std::string& key) const {
    auto value = find<T>(key);
    if (!value) wrong(key, "is missing");
    return *value;
  }
  /// Absent and null are the same.
  template <class T>
  T get_or(const std::string& key, const T& fallback) const {
    auto value = find<T>(key);
    return value ? *value : fallback;
  }
  template <class T>
  std::optional<T> maybe(const std::string& key) const {
    return find<T>(key);
  }
  int count(const std::string& key, int least) const {
    const auto value = get<std::int64_t>(key);
    if (value < least || value > std::numeric_limits<int>::max() / 2) {
      wrong(key, fmt::format("is out of range: {}", value));
    }
    return static_cast<int>(value);
  }
  core::NodeId node(const std::string& key) const {
    const auto value = get<std::int64_t>(key);
    if (value < 0 || value > std::int64_t{core::kNobody} ||
        !core::is_gateway(static_cast<core::NodeId>(value))) {
      wrong(key, fmt::format("is not the number of a gateway: {}", value));
    }
    return static_cast<core::NodeId>(value);
  }
  /// The objects of a list; absent is empty.
  std::vector<Keys> list(const std::string& key) const {
    std::vector<Keys> result;
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return result;
    if (!found->is_array()) wrong(key, "must be a list");
    for (std::size_t i = 0; i < found->size(); ++i) {
      result.emplace_back((*found)[i], fmt::format("{}.{}[{}]", place_, key, i));
    }
    return result;
  }
  [[noreturn]] void wrong(const std::string& key, const std::string& why) const {
    throw Failure("control message: " + place_ + (key.empty() ? "" : "." + key) + " " + why);
  }

 private:
  template <class T>
  std::optional<T> find(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return std::nullopt;
    try {
      return found->get<T>();
    } catch (const json::exception&) {
      wrong(key, "has a wrong type: " + core::dump_any(*found).substr(0, 60));
    }
  }

  const json& object_;
  std::string place_;
};

core::Secret from_hex(const Keys& keys, const std::string& key) {
  auto text = keys.get<std::string>(key);
  auto bytes = core::from_hex(text);
  core::wipe(text);
  // Says nothing of the secret itself.
  if (!bytes) keys.wrong(key, "must be pairs of hexadecimal digits");
  return *std::move(bytes);
}

void check_names(const Keys& keys, const Variables& variables) {
  for (const auto& [name, value] : variables) {
    if (name.empty() || name.find_first_of(std::string("=\0", 2)) != std::string::npos ||
        value.find('\0') != std::string::npos) {
      keys.wrong("env", "holds a name or value that no environment can: \"" + name + "\"");
    }
  }
}

std::vector<std::string> read_argv(const Keys& keys) {
  auto argv = keys.get<std::vector<std::string>>("argv");
  if (argv.empty()) keys.wrong("argv", "is empty");
  for (const std::string& word : argv) {
    if (word.find('\0') != std::string::npos) keys.wrong("argv", "holds a NUL");
  }
  return argv;
}

// Names only: what launchers take for an option, or for several hosts, is refused.
std::vector<std::string> read_hosts(const Keys& keys) {
  auto hosts = keys.get_or<std::vector<std::string>>("hosts", {});
  for (const std::string& host : hosts) {
    const bool plain = std::all_of(host.begin(), host.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
    if (host.empty() || host.front() == '-' || !plain) {
      keys.wrong("hosts", "has a name that is not a host's: '" + host + "'");
    }
  }
  return hosts;
}

core::Net read_net(const Keys& link) {
  try {
    return core::net_from(link.get_or("net", std::string(core::name_of(core::Net::Tcp))));
  } catch (const std::invalid_argument& error) {
    link.wrong("net", error.what());
  }
}

// Seconds; 0 where it is left open.
double read_patience(const Keys& keys) {
  const double patience = keys.get_or("patience", 0.0);
  if (!(patience >= 0 && patience < 1e6)) keys.wrong("patience", "is out of range");
  return patience;
}

std::vector<net::Service> read_services(const Keys& keys) {
  std::vector<net::Service> services;
  for (const Keys& service : keys.list("services")) {
    services.push_back({service.get<std::string>("at"),
                        {service.get<std::string>("name"), from_hex(service, "secret")}});
    if (services.back().credentials.job.size() > 255) service.wrong("name", "is too long");
  }
  return services;
}

LinkRequest::Beside read_beside(const Keys& keys, std::size_t clusters) {
  const json object = keys.get_or<json>("beside", json::object());
  const Keys item(object, "link.beside");
  LinkRequest::Beside beside;
  beside.clusters = item.get_or<std::set<std::size_t>>("clusters", {});
  beside.gateways = item.get_or<std::set<core::NodeId>>("gateways", {});
  beside.least = item.get_or("least", 1);
  if (!beside.clusters.empty() && *beside.clusters.rbegin() >= clusters) {
    item.wrong("clusters", "has a number that is not a cluster's");
  }
  return beside;
}

}  // namespace

ConfigureRequest read_configure(const json& body) {
  const Keys keys(body, "configure");
  ConfigureRequest request;
  request.version = keys.get<std::string>("version");
  request.wire = keys.get_or("wire", 0);
  request.job = keys.get<std::string>("job");
  request.secret = from_hex(keys, "secret");
  request.cluster = keys.get<std::string>("cluster");
  request.env = keys.get_or<Variables>("env", {});
  check_names(keys, request.env);
  request.mpi = keys.get_or<std::string>("mpi", "");
  request.launch = keys.get_or<std::string>("launch", "");
  request.hosts = read_hosts(keys);
  request.wdir = keys.get_or<std::string>("wdir", "");
  for (const Keys& gateway : keys.list("gateways")) {
    request.gateways.push_back({gateway.node("node"),
                                gateway.get_or<std::vector<std::string>>("listen", {}),
                                gateway.get_or<std::vector<std::string>>("awaits", {})});
  }
  request.services = read_services(keys);
  request.settings = keys.get_or<json>("settings", json::object());
  if (!request.settings.is_object()) keys.wrong("settings", "must be an object");
  return request;
}

InspectRequest read_inspect(const json& body) {
  const Keys keys(body, "inspect");
  return {read_argv(keys), keys.get_or<std::string>("mpi", ""),
          keys.get_or<bool>("ask_version", true)};
}

std::vector<LinkRequest::Link> read_links(const Keys& keys) {
  std::vector<LinkRequest::Link> links;
  for (const Keys& item : keys.list("links")) {
    LinkRequest::Link link;
    link.from = item.node("from");
    link.to = item.node("to");
    link.addresses = item.get<std::vector<std::string>>("addresses");
    link.encrypt = item.get_or("encrypt", true);
    link.rate = item.get_or("rate", 0.0);
    link.rtt = item.get_or("rtt", 0.0);
    link.streams = item.get_or("streams", 0);
    link.congestion = item.get_or("congestion", std::string());
    link.net = read_net(item);
    link.compress = item.get_or("compress", false);
    link.patience = read_patience(item);
    if (!(link.rate >= 0 && link.rate < 1e15)) item.wrong("rate", "is out of range");
    if (!(link.rtt >= 0 && link.rtt < 1e3)) item.wrong("rtt", "is out of range");
    if (link.streams < 0 || link.streams > 256) item.wrong("streams", "is out of range");
    links.push_back(std::move(link));
  }
  return links;
}

LinkRequest read_link(const json& body) {
  const Keys keys(body, "link");
  LinkRequest request;
  try {
    request.world = core::world_from_json(keys.get<json>("world").dump());
  } catch (const std::invalid_argument& error) {
    keys.wrong("world", std::string("is wrong: ") + error.what());
  }
  request.links = read_links(keys);
  for (const Keys& item : keys.list("routes")) {
    auto& next = request.routes[item.node("node")];
    using Next = std::map<std::string, std::vector<core::NodeId>>;
    for (const auto& [cluster, nodes] : item.get<Next>("next")) {
      if (cluster.empty() || cluster.size() > 9 ||
          cluster.find_first_not_of("0123456789") != std::string::npos ||
          std::stoul(cluster) >= request.world.clusters.size() || nodes.empty() ||
          !std::all_of(nodes.begin(), nodes.end(), core::is_gateway)) {
        item.wrong("next", "has a wrong entry for \"" + cluster + "\"");
      }
      next[std::stoul(cluster)] = nodes;
    }
  }
  request.beside = read_beside(keys, request.world.clusters.size());
  return request;
}

StageRequest read_stage(const json& body) {
  const Keys keys(body, "stage");
  StageRequest request;
  request.path = keys.get<std::string>("path");
  request.mode = static_cast<unsigned>(keys.count("mode", 0));
  request.size = keys.get<std::uint64_t>("size");
  request.sha256 = keys.get<std::string>("sha256");
  if (request.sha256.size() != 64) keys.wrong("sha256", "must be 64 hexadecimal digits");
  return request;
}

SpawnRequest read_spawn(const json& body) {
  const Keys keys(body, "spawn");
  SpawnRequest request;
  std::int64_t sum = 0;
  for (const Keys& item : keys.list("parts")) {
    SpawnRequest::Part part{item.count("n", 1), read_argv(item), item.get_or<Variables>("env", {}),
                            item.get_or("appnum", 0), item.get_or<std::string>("mpi", "")};
    check_names(item, part.env);
    sum += part.n;
    request.parts.push_back(std::move(part));
  }
  if (request.parts.empty()) keys.wrong("parts", "is missing or empty");
  request.first = keys.count("first", 0);
  request.local_first = keys.get_or("local_first", 0);
  request.size = keys.count("size", 1);
  if (request.size != sum) {
    keys.wrong("size", fmt::format("is {}, but the parts have {} ranks", request.size, sum));
  }
  request.base = keys.get_or("base", 0);
  request.world_size = keys.get_or("world_size", 0);
  request.has_stdin = keys.get_or("stdin", false);
  request.tag_output = keys.get_or("tag_output", false);
  return request;
}

ExtendRequest read_extend(const json& body) {
  const Keys keys(body, "extend");
  ExtendRequest request;
  for (const Keys& item : keys.list("gateways")) {
    request.gateways.emplace_back(item.node("node"), item.get<std::string>("name"));
  }
  request.links = read_links(keys);
  request.gone = keys.get_or<std::vector<core::NodeId>>("gone", {});
  return request;
}

GrowRequest read_grow(const json& body) {
  const Keys keys(body, "grow");
  GrowRequest request;
  const auto growth = body.find("growth");
  if (growth == body.end()) keys.wrong("growth", "is missing");
  try {
    request.growth = core::growth_from_json(growth->dump());
  } catch (const std::invalid_argument& wrong) {
    keys.wrong("growth", std::string("is wrong: ") + wrong.what());
  }
  for (const Keys& item : keys.list("routes")) {
    request.routes[item.node("node")] = item.get<std::vector<core::NodeId>>("next");
  }
  return request;
}

JunctionRequest read_junction(const json& body) {
  const Keys keys(body, "junction");
  JunctionRequest request;
  request.node = keys.node("node");
  request.run = keys.get<std::string>("run");
  request.self = keys.node("self");
  request.peer = keys.node("peer");
  request.name = keys.get<std::string>("name");
  request.secret = from_hex(keys, "secret");
  request.listens = !body.contains("connect");
  request.connect = keys.get_or<std::vector<std::string>>("connect", {});
  request.services = read_services(keys);
  request.patience = read_patience(keys);
  return request;
}

ServeRequest read_serve(const json& body) {
  const Keys keys(body, "serve");
  return {keys.node("node"), keys.get<std::string>("key"), from_hex(keys, "secret"),
          keys.get_or<std::vector<std::string>>("listen", {})};
}

PartRequest read_part(const json& body) {
  const Keys keys(body, "part");
  return {keys.get<std::string>("run"), keys.get<std::string>("message")};
}

std::chrono::milliseconds read_alive(const json& body) {
  const Keys keys(body, "alive");
  const auto seconds = keys.get<double>("patience");
  if (!(seconds >= 0 && seconds < 1e6)) keys.wrong("patience", "must be a number of seconds");
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

FailedRequest read_failed(const json& body) {
  const Keys keys(body, "failed");
  return {static_cast<std::size_t>(keys.count("cluster", 0)), keys.get<std::string>("message")};
}

std::set<core::NodeId> read_lost(const json& body) {
  return Keys(body, "lost").get<std::set<core::NodeId>>("gateways");
}

net::control::Spare read_spare(const json& body) {
  const Keys keys(body, "spare");
  const auto state = keys.get<std::string>("state");
  if (state != "joined" && state != "left") keys.wrong("state", "must be 'joined' or 'left'");
  return {static_cast<std::uint64_t>(keys.count("number", 0)), keys.get<std::string>("cluster"),
          state == "left", keys.get<std::string>("message")};
}

AnswerRequest read_answer(const json& body) {
  const Keys keys(body, "answer");
  AnswerRequest request;
  request.rank = static_cast<core::NodeId>(keys.count("rank", 0));
  request.number = keys.get<std::uint64_t>("number");
  const auto reply = body.find("reply");
  if (reply == body.end() || !reply->is_object()) keys.wrong("reply", "must be an object");
  request.reply = core::dump_any(*reply, true);
  return request;
}

std::optional<std::chrono::milliseconds> read_grace(const json& body) {
  const Keys keys(body, "kill");
  const auto seconds = keys.maybe<double>("grace");
  if (!seconds) return {};
  if (!(*seconds >= 0 && *seconds <= kMostGrace)) keys.wrong("grace", "must be from 0 to 60");
  return std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
}

TraceRequest read_trace(const json& body) {
  const Keys keys(body, "trace");
  return {keys.get<std::string>("name"), keys.get<std::uint64_t>("offset")};
}

}  // namespace isthmus::daemon
