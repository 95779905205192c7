// The traffic of a set of gateways, for `stats` in docs/control.md.
#include "daemon/gateway/gateway_set_state.hpp"

namespace isthmus::daemon {

using nlohmann::json;

std::vector<LinkCount> GatewaySet::counts() const {
  std::vector<LinkCount> all;
  for (const GatewayMember& member : state_->members) {
    for (const LinkCount& count : member.ask(&Gateway::counts)) all.push_back(count);
  }
  return all;
}

std::map<core::NodeId, TurnedAway> GatewaySet::turned_away() const {
  std::map<core::NodeId, TurnedAway> all;
  for (const auto& member : state_->members) all[member.node] = member.ask(&Gateway::turned_away);
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

namespace {

void add_direct(json& list, const Gateway::Crossed& crossed) {
  for (const auto& [clusters, count] : crossed) {
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

}  // namespace

json GatewaySet::direct_stats() const {
  auto list = json::array();
  for (const auto& member : state_->members) add_direct(list, member.ask(&Gateway::crossed));
  return list;
}

json GatewaySet::direct_stats_of_left() const {
  auto list = json::array();
  for (const auto& member : state_->members) {
    add_direct(list, member.ask(&Gateway::crossed_of_left));
  }
  return list;
}

void GatewaySet::ask_crossed() {
  for (const auto& member : state_->members)
    member.want([](Gateway& gateway) { gateway.ask_crossed(); });
}

json GatewaySet::crossing_stats() const {
  auto list = json::array();
  for (const GatewayMember& member : state_->members) {
    for (const auto& [clusters, count] : member.ask(&Gateway::crossings)) {
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
  for (const GatewayMember& member : state_->members) {
    for (const auto& [cluster, count] : member.ask(&Gateway::near)) {
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

}  // namespace isthmus::daemon
