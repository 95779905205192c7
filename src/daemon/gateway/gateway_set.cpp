#include "daemon/gateway/gateway_set.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "daemon/gateway/gateway.hpp"
#include "daemon/launch/failure.hpp"
#include "net/host_addresses.hpp"
#include "net/listener.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

std::chrono::milliseconds seconds_or(const json& settings, const char* key,
                                     std::chrono::milliseconds fallback) {
  const auto found = settings.find(key);
  if (found == settings.end() || found->is_null()) return fallback;
  if (!found->is_number() || !(found->get<double>() > 0) || !(found->get<double>() < 1e6)) {
    throw Failure(std::string("In the control message configure.settings.") + key +
                  " is not a number of seconds.");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(found->get<double>() * 1000));
}

constexpr int kMostRejected = 20;  // that are told

struct Member {
  core::NodeId node;
  std::vector<std::string> addresses;
  std::vector<std::string> listen;  // as the launcher had it
  std::unique_ptr<Gateway> gateway;
};

/// Where something may listen beside what listens at a place: a range has another port for it.
std::string beside(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  const bool range = place.find('-', colon) != std::string::npos;
  return range ? place : place.substr(0, colon) + ":0";
}

}  // namespace

struct GatewaySet::State {
  GatewaySetEvents events;
  std::vector<Member> members;
  std::string cluster;  // whose agent this is
  std::string folder;
  std::set<std::string> told_joined;
  int rejected = 0;

  void once_joined(const std::string& of) {
    if (told_joined.insert(of).second && events.joined) events.joined(of, best(of).size);
  }
  // A rank joins at all gateways or at none.
  Attendance best(const std::string& of) const {
    Attendance found;
    for (const Member& member : members) {
      for (const Attendance& here : member.gateway->attendance()) {
        if (here.cluster == of && here.joined + here.left >= found.joined + found.left)
          found = here;
      }
    }
    return found;
  }
  // No chain of links need lead from one gateway of a cluster to another: each has its own part of
  // the grid to tell.
  void once_fault(core::NodeId from, const std::string& message, int code) {
    for (Member& member : members) {
      if (member.node != from) member.gateway->fault(message, code);
    }
    events.abort = nullptr;
    if (const auto tell = std::exchange(events.fault, nullptr)) tell(message, code);
  }
  const Member& member(core::NodeId node, const char* op) const {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [node](const Member& each) { return each.node == node; });
    if (found != members.end()) return *found;
    throw Failure(std::string("In the control message ") + op + " the gateway " +
                  std::to_string(node) + " is not one of this agent's.");
  }
  // Whoever scans ports must not fill anybody's log.
  void once_rejected(const std::string& message) {
    if (!events.notice || rejected > kMostRejected) return;
    const bool last = rejected++ == kMostRejected;
    events.notice(last ? "further connections that are turned away are not told" : message, false);
  }
  void once_abort(int rank, int code, const std::string& message) {
    events.fault = nullptr;
    if (const auto tell = std::exchange(events.abort, nullptr)) tell(rank, code, message);
  }
};

GatewaySet::GatewaySet(asio::io_context& context, const ConfigureRequest& request,
                       const std::string& folder, GatewaySetEvents events)
    : state_(std::make_shared<State>()) {
  state_->events = std::move(events);
  state_->cluster = request.cluster;
  state_->folder = folder;
  for (const auto& own : request.gateways) {
    GatewayConfig config;
    config.node = own.node;
    config.cluster = request.cluster;
    config.job = request.job;
    config.secret = request.secret;
    config.patience = seconds_or(request.settings, "patience", config.patience);
    config.connect_timeout =
        seconds_or(request.settings, "connect_timeout", config.connect_timeout);
    config.services = request.services;
    config.anew = request.settings.value("anew", json(false)) == true;
    config.accept_plain = request.settings.value("accept_plain", json(false)) == true;
    config.accept_plain_ranks = request.settings.value("accept_plain_ranks", json(false)) == true;

    State* state = state_.get();
    Gateway::Events heard;
    heard.joined = [state](const std::string& of) { state->once_joined(of); };
    heard.abort = [state](int rank, int code, const std::string& message) {
      state->once_abort(rank, code, message);
    };
    heard.fault = [state, node = own.node](const std::string& message, int code) {
      state->once_fault(node, message, code);
    };
    heard.warning = [state](const std::string& message) {
      if (state->events.notice) state->events.notice(message, true);
    };
    heard.silence = [state](const LinkSilence& silence) {
      if (state->events.silence) state->events.silence(silence);
    };
    heard.here = [state](const std::string& whereabouts) {
      if (state->events.here) state->events.here(whereabouts);
    };
    heard.ask = [state](core::NodeId process, std::uint64_t number, const std::string& request) {
      if (state->events.ask) state->events.ask(process, number, request);
    };
    heard.parted = [state](const std::string& run, const std::string& message) {
      if (state->events.parted) state->events.parted(run, message);
    };
    heard.rejected = [state](const std::string& message) { state->once_rejected(message); };
    auto gateway = std::make_unique<Gateway>(context, std::move(config), std::move(heard));
    std::vector<std::string> addresses{"unix:" + folder + "/gateway" +
                                       std::to_string(state_->members.size())};
    try {
      for (const std::string& place : own.listen) addresses.push_back(net::at_own_address(place));
      addresses = gateway->listen(addresses);
      for (const std::string& at : own.awaits) gateway->await_calls(at);
    } catch (const net::ListenError& error) {
      throw Failure("The gateway of cluster " + request.cluster + " " + error.what(),
                    error.remedy());
    } catch (const std::exception& error) {
      throw Failure("The gateway of cluster " + request.cluster + " cannot listen: " + error.what(),
                    "Mend 'address' or 'listen' in [[gateway]] of the grid file.");
    }
    state_->members.push_back({own.node, std::move(addresses), own.listen, std::move(gateway)});
  }
}

GatewaySet::~GatewaySet() = default;

json GatewaySet::listening() const {
  auto list = json::array();
  for (const Member& member : state_->members) {
    list.push_back({{"node", member.node}, {"addresses", member.addresses}});
  }
  return list;
}

void GatewaySet::link(const LinkRequest& request,
                      std::function<void(const std::string& trouble)> done) {
  auto& members = state_->members;
  const auto known = [&](core::NodeId node) {
    return std::any_of(members.begin(), members.end(),
                       [node](const Member& member) { return member.node == node; });
  };
  std::map<core::NodeId, std::vector<GatewayLink>> links;
  for (const auto& link : request.links) {
    if (!known(link.from)) {
      throw Failure("In the control message link.links the gateway " + std::to_string(link.from) +
                    " is not one of this agent's.");
    }
    GatewayLink made;
    made.to = link.to;
    made.addresses = link.addresses;
    made.encrypt = link.encrypt;
    made.rate = static_cast<std::uint64_t>(link.rate);
    made.rtt = link.rtt;
    made.streams = link.streams;
    made.congestion = link.congestion;
    made.compress = link.compress;
    made.net = link.net;
    made.patience = std::chrono::milliseconds(std::llround(1000 * link.patience));
    links[link.from].push_back(std::move(made));
  }
  for (const auto& [node, next] : request.routes) {
    if (!known(node)) {
      throw Failure("In the control message link.routes the gateway " + std::to_string(node) +
                    " is not one of this agent's.");
    }
  }
  if (members.empty()) return done({});

  // Answered when all have answered, with the first trouble.
  struct Waiting {
    std::size_t left;
    std::string trouble;
    std::function<void(const std::string&)> done;
  };
  auto waiting = std::make_shared<Waiting>(Waiting{members.size(), {}, std::move(done)});
  for (Member& member : members) {
    const auto route = request.routes.find(member.node);
    member.gateway->link(request.world, std::move(links[member.node]),
                         route == request.routes.end() ? core::Routes{} : route->second,
                         [waiting](const std::string& trouble) {
                           if (waiting->trouble.empty()) waiting->trouble = trouble;
                           if (--waiting->left == 0) waiting->done(waiting->trouble);
                         });
  }
}

void GatewaySet::grow(const core::Growth& growth) {
  for (Member& member : state_->members) member.gateway->grow(growth);
}

void GatewaySet::join(const JunctionRequest& request, const Joined& done) {
  const Member& member = state_->member(request.node, "junction");
  JunctionPlan plan{request.run,    request.self, request.peer,    request.name,
                    request.secret, {},           request.connect, request.services};
  plan.patience = std::chrono::milliseconds(std::llround(1000 * request.patience));
  const bool connects = !request.listens;
  if (!connects) {
    plan.listen.push_back("unix:" + state_->folder + "/junction" + std::to_string(request.peer));
    for (const std::string& place : places_beside(request.node)) plan.listen.push_back(place);
  }
  try {
    const auto at = member.gateway->join(
        std::move(plan), connects ? [done](const std::string& trouble) { done({}, trouble); }
                                  : std::function<void(const std::string&)>());
    if (!connects) done(at, {});
  } catch (const net::ListenError& error) {
    throw Failure("The gateway of cluster " + state_->cluster + " " + error.what(), error.remedy());
  }
}

std::vector<std::string> GatewaySet::places_beside(core::NodeId node) const {
  std::vector<std::string> places;
  for (const std::string& place : state_->member(node, "junction").listen) {
    places.push_back(net::at_own_address(beside(place)));
  }
  return places;
}

void GatewaySet::part(const PartRequest& request) {
  for (Member& member : state_->members) member.gateway->part(request.run, request.message);
}

void GatewaySet::ask_where(bool traces) {
  for (Member& member : state_->members) member.gateway->ask_where(traces);
}

void GatewaySet::answer(core::NodeId process, std::uint64_t number, const std::string& reply) {
  for (Member& member : state_->members) {
    if (member.gateway->answer(process, number, reply)) return;
  }
}

bool GatewaySet::joined() const {
  const Attendance here = state_->best(state_->cluster);
  return here.size > 0 && here.joined == here.size;
}

std::map<std::string, int> GatewaySet::joined_ranks() const {
  std::map<std::string, int> joined;
  for (const Member& member : state_->members) {
    for (const Attendance& here : member.gateway->attendance()) {
      joined[here.cluster] = state_->best(here.cluster).joined;
    }
  }
  return joined;
}

bool GatewaySet::finished() const {
  const Attendance here = state_->best(state_->cluster);
  return joined() && here.left == here.size;
}

std::vector<LinkCount> GatewaySet::counts() const {
  std::vector<LinkCount> all;
  for (const Member& member : state_->members) {
    for (const LinkCount& count : member.gateway->counts()) all.push_back(count);
  }
  return all;
}

json GatewaySet::stats() const {
  auto list = json::array();
  for (const LinkCount& count : counts()) {
    list.push_back({{"from", count.from},
                    {"to", count.to},
                    {"messages", count.messages},
                    {"bytes", count.bytes},
                    {"frames", count.frames},
                    {"wire_bytes", count.wire_bytes},
                    {"streams", count.streams},
                    {"ucx", count.ucx},
                    {"memory", count.memory},
                    {"rtt", static_cast<double>(count.rtt.count()) * 1e-6},
                    {"min_rtt", static_cast<double>(count.min_rtt.count()) * 1e-6},
                    {"best_rate", count.best_rate},
                    {"lost_bytes", count.repeated},
                    {"waiting", count.waiting},
                    {"silence", static_cast<double>(count.silence.count()) * 1e-3}});
  }
  return list;
}

json GatewaySet::direct_stats() const {
  auto list = json::array();
  for (const Member& member : state_->members) {
    for (const auto& [clusters, count] : member.gateway->crossed()) {
      list.push_back({{"from", clusters.first},
                      {"to", clusters.second},
                      {"conduits", count.conduits},
                      {"ucx", count.ucx},
                      {"messages", count.messages},
                      {"bytes", count.bytes},
                      {"wire_bytes", count.wire_bytes},
                      {"streams", count.streams},
                      {"lost_bytes", count.repeated}});
    }
  }
  return list;
}

json GatewaySet::crossing_stats() const {
  auto list = json::array();
  for (const Member& member : state_->members) {
    for (const auto& [clusters, count] : member.gateway->crossings()) {
      list.push_back({{"node", member.node},
                      {"from", clusters.first},
                      {"to", clusters.second},
                      {"messages", count.messages},
                      {"bytes", count.bytes},
                      {"frames", count.frames},
                      {"wire_bytes", count.wire_bytes}});
    }
  }
  return list;
}

json GatewaySet::near_stats() const {
  auto list = json::array();
  for (const Member& member : state_->members) {
    for (const auto& [cluster, count] : member.gateway->near()) {
      list.push_back({{"node", member.node},
                      {"cluster", cluster},
                      {"processes", count.processes},
                      {"ucx", count.ucx},
                      {"memory", count.memory},
                      {"plain", count.plain},
                      {"messages", count.messages},
                      {"bytes", count.bytes},
                      {"wire_bytes", count.wire_bytes}});
    }
  }
  return list;
}

void GatewaySet::close(const std::function<void()>& done) {
  if (state_->members.empty()) return done();
  auto left = std::make_shared<std::size_t>(state_->members.size());
  for (Member& member : state_->members) {
    member.gateway->close([left, done] {
      if (--*left == 0) done();
    });
  }
}

}  // namespace isthmus::daemon
