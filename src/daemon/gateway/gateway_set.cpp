#include "daemon/gateway/gateway_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/gateway/gateway_set_state.hpp"
#include "daemon/host/failure.hpp"
#include "net/door/host_addresses.hpp"
#include "net/door/listener.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

std::chrono::milliseconds seconds_or(const json& settings, const char* key,
                                     std::chrono::milliseconds fallback) {
  const auto found = settings.find(key);
  if (found == settings.end() || found->is_null()) return fallback;
  if (!found->is_number() || !(found->get<double>() > 0) || !(found->get<double>() < 1e6)) {
    throw Failure(std::string("control message: configure.settings.") + key +
                  " is not a number of seconds");
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(found->get<double>() * 1000));
}

/// The first of an agent lives on the agent's own thread, as most are alone; each other has one.
std::unique_ptr<GatewayThread> thread_of(std::size_t index, asio::io_context& agents) {
  if (index == 0) return std::make_unique<GatewayThread>(agents);
  return std::make_unique<GatewayThread>(agents, "gateway" + std::to_string(index));
}

GatewayConfig settings_of(const ConfigureRequest& request, core::NodeId node) {
  GatewayConfig config;
  config.node = node;
  config.cluster = request.cluster;
  config.job = request.job;
  config.secret = request.secret;
  config.patience = seconds_or(request.settings, "patience", config.patience);
  config.connect_timeout = seconds_or(request.settings, "connect_timeout", config.connect_timeout);
  config.services = request.services;
  config.anew = request.settings.value("anew", json(false)) == true;
  config.late = request.settings.value("late", json(false)) == true;
  config.survives = request.settings.value("survives", json(false)) == true;
  config.accept_plain = request.settings.value("accept_plain", json(false)) == true;
  config.accept_plain_ranks = request.settings.value("accept_plain_ranks", json(false)) == true;
  return config;
}

/// A place to listen beside a place that is in use: a range has another port.
std::string beside(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  const bool range = place.find('-', colon) != std::string::npos;
  return range ? place : place.substr(0, colon) + ":0";
}

}  // namespace

GatewaySet::GatewaySet(asio::io_context& context, const ConfigureRequest& request,
                       const std::string& folder, GatewayUser& user)
    : state_(std::make_shared<State>(user)) {
  state_->cluster = request.cluster;
  state_->folder = folder;
  for (const auto& own : request.gateways) {
    const std::size_t index = state_->members.size();
    auto thread = thread_of(index, context);
    State::News& news = state_->news.emplace_back(*state_, *thread, own.node);
    GatewayConfig config = settings_of(request, own.node);
    std::vector<std::string> addresses{fmt::format("unix:{}/gateway{}", folder, index)};
    GatewayThere gateway(nullptr, {thread.get()});
    try {
      for (const std::string& place : own.listen) addresses.push_back(net::at_own_address(place));
      addresses = thread->call([&] {
        gateway.reset(new Gateway(thread->io(), std::move(config), news));
        auto actual = gateway->listen(addresses);
        for (const std::string& at : own.awaits) gateway->await_calls(at);
        return actual;
      });
    } catch (const net::ListenError& error) {
      throw Failure("the gateway of cluster " + request.cluster + " " + error.what(),
                    error.remedy());
    } catch (const std::exception& error) {
      throw Failure("the gateway of cluster " + request.cluster + " cannot listen: " + error.what(),
                    "Correct 'address' or 'listen' in [[gateway]] of the grid file.");
    }
    state_->members.push_back(
        {own.node, std::move(addresses), own.listen, std::move(thread), std::move(gateway)});
  }
}

GatewaySet::~GatewaySet() = default;

json GatewaySet::listening() const {
  auto list = json::array();
  for (const GatewayMember& member : state_->members) {
    list.push_back({{"node", member.node}, {"addresses", member.addresses}});
  }
  return list;
}

std::map<core::NodeId, std::vector<GatewayLink>> GatewaySet::State::links_of(
    const std::vector<LinkRequest::Link>& requested, const char* op) const {
  std::map<core::NodeId, std::vector<GatewayLink>> links;
  for (const auto& link : requested) {
    check_own(link.from, op, "links");
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
  return links;
}

void GatewaySet::State::check_own(core::NodeId node, const char* op, const char* key) const {
  const auto is_it = [node](const GatewayMember& member) { return member.node == node; };
  if (std::any_of(members.begin(), members.end(), is_it)) return;
  throw Failure(fmt::format("control message: {}.{} the gateway {} is not one of this agent's", op,
                            key, node));
}

void GatewaySet::State::when_all(std::function<void(const std::string&)> done,
                                 const Linking& begin) {
  if (members.empty()) return done({});
  struct Waiting {
    std::size_t left;
    std::string trouble;
    std::function<void(const std::string&)> done;
  };
  auto waiting = std::make_shared<Waiting>(Waiting{members.size(), {}, std::move(done)});
  for (GatewayMember& member : members) {
    const auto linked =
        member.thread->told<const std::string&>([waiting](const std::string& trouble) {
          if (waiting->trouble.empty()) waiting->trouble = trouble;
          if (--waiting->left == 0) waiting->done(waiting->trouble);
        });
    member.ask([&](Gateway& gateway) { begin(gateway, member.node, linked); });
  }
}

void GatewaySet::link(const LinkRequest& request,
                      std::function<void(const std::string& trouble)> done) {
  auto links = state_->links_of(request.links, "link");
  for (const auto& [node, next] : request.routes) state_->check_own(node, "link", "routes");
  state_->when_all(std::move(done), [&](Gateway& gateway, core::NodeId node, auto linked) {
    const auto route = request.routes.find(node);
    const auto next = route == request.routes.end() ? core::Routes{} : route->second;
    gateway.link(request.world, std::move(links[node]), next, std::move(linked));
  });
}

void GatewaySet::extend(const ExtendRequest& request,
                        std::function<void(const std::string& trouble)> done) {
  auto links = state_->links_of(request.links, "extend");
  state_->when_all(std::move(done), [&](Gateway& gateway, core::NodeId node, auto linked) {
    gateway.extend({request.gateways, std::move(links[node]), request.gone}, std::move(linked));
  });
}

void GatewaySet::grow(const GrowRequest& request) {
  for (const auto& [node, next] : request.routes) state_->check_own(node, "grow", "routes");
  for (const GatewayMember& member : state_->members) {
    const auto route = request.routes.find(member.node);
    auto next = route == request.routes.end() ? std::vector<core::NodeId>{} : route->second;
    member.ask([&](Gateway& gateway) { gateway.grow(request.growth, std::move(next)); });
  }
}

void GatewaySet::join(const JunctionRequest& request, const Joined& done) {
  const GatewayMember& member = state_->member(request.node, "junction");
  JunctionPlan plan{request.run,    request.self, request.peer,    request.name,
                    request.secret, {},           request.connect, request.services};
  plan.patience = std::chrono::milliseconds(std::llround(1000 * request.patience));
  const bool connects = !request.listens;
  if (!connects) {
    plan.listen.push_back(fmt::format("unix:{}/junction{}", state_->folder, request.peer));
    for (const std::string& place : places_beside(request.node)) plan.listen.push_back(place);
  }
  std::function<void(const std::string&)> stands;
  if (connects) {
    stands = member.thread->told<const std::string&>(
        [done](const std::string& trouble) { done({}, trouble); });
  }
  try {
    const auto at =
        member.ask([&](Gateway& gateway) { return gateway.join(std::move(plan), stands); });
    if (!connects) done(at, {});
  } catch (const net::ListenError& error) {
    throw Failure("the gateway of cluster " + state_->cluster + " " + error.what(), error.remedy());
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
  for (const GatewayMember& member : state_->members) {
    member.want([request](Gateway& gateway) { gateway.part(request.run, request.message); });
  }
}

void GatewaySet::read_come() {
  for (const GatewayMember& member : state_->members) {
    member.ask([](Gateway& gateway) {
      gateway.read_come();
      return true;
    });
  }
}

void GatewaySet::failed(const FailedRequest& request) {
  for (const GatewayMember& member : state_->members) {
    member.want([request](Gateway& gateway) { gateway.failed(request.cluster, request.message); });
  }
}

void GatewaySet::go_on_alone(GatewayUser& user) {
  state_->user = &user;
  for (const GatewayMember& member : state_->members) {
    member.want([](Gateway& gateway) { gateway.go_on_alone(); });
  }
}

void GatewaySet::agree(core::NodeId gateway) {
  for (const GatewayMember& member : state_->members) {
    member.want([gateway](Gateway& of) { of.agree(gateway); });
  }
}

void GatewaySet::have_ended(std::size_t cluster) {
  for (const GatewayMember& member : state_->members) {
    member.want([cluster](Gateway& gateway) { gateway.have_ended(cluster); });
  }
}

void GatewaySet::spare(const net::control::Spare& news) {
  for (const GatewayMember& member : state_->members) {
    member.want([news](Gateway& gateway) { gateway.spare(news); });
  }
}

void GatewaySet::ask_where(bool traces) {
  for (const GatewayMember& member : state_->members) {
    member.want([traces](Gateway& gateway) { gateway.ask_where(traces); });
  }
}

void GatewaySet::answer(core::NodeId process, std::uint64_t number, const std::string& reply) {
  const auto taken = [&](Gateway& gateway) { return gateway.answer(process, number, reply); };
  for (const GatewayMember& member : state_->members) {
    if (member.ask(taken)) return;
  }
}

bool GatewaySet::joined() const {
  const Attendance here = state_->best(state_->cluster);
  return here.size > 0 && here.joined == here.size;
}

bool GatewaySet::ready() const {
  const auto& members = state_->members;
  return std::any_of(members.begin(), members.end(),
                     [](const GatewayMember& member) { return member.ask(&Gateway::ready); });
}

std::map<std::string, int> GatewaySet::joined_ranks() const {
  std::map<std::string, int> joined;
  for (const GatewayMember& member : state_->members) {
    for (const Attendance& here : member.ask(&Gateway::attendance)) {
      joined[here.cluster] = state_->best(here.cluster).joined;
    }
  }
  return joined;
}

bool GatewaySet::finished() const {
  const Attendance here = state_->best(state_->cluster);
  return joined() && here.left == here.size;
}

std::string GatewaySet::first_died() const { return state_->best(state_->cluster).first_died; }

bool GatewaySet::rank_died() const { return state_->best(state_->cluster).died > 0; }

void GatewaySet::close(const std::function<void()>& done) {
  if (state_->members.empty()) return done();
  auto left = std::make_shared<std::size_t>(state_->members.size());
  for (GatewayMember& member : state_->members) {
    const auto closed = member.thread->told([left, done] {
      if (--*left == 0) done();
    });
    member.want([closed](Gateway& gateway) { gateway.close(closed); });
  }
}

}  // namespace isthmus::daemon
