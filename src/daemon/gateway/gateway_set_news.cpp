// A set passes the news of its gateways on. It passes a fault or an abort on once.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/gateway/gateway_set_state.hpp"
#include "daemon/host/failure.hpp"

namespace isthmus::daemon {

Attendance GatewaySet::State::best(const std::string& of) const {
  Attendance found;
  for (const GatewayMember& member : members) {
    for (const Attendance& here : member.ask(&Gateway::attendance)) {
      if (here.cluster == of && here.joined + here.left >= found.joined + found.left) found = here;
    }
  }
  return found;
}

const GatewayMember& GatewaySet::State::member(core::NodeId node, const char* op) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [node](const GatewayMember& each) { return each.node == node; });
  if (found != members.end()) return *found;
  throw Failure(
      fmt::format("control message: {} the gateway {} is not one of this agent's", op, node));
}

// No chain of links need lead from one gateway of a cluster to another: each has its own part of
// the grid to tell.
void GatewaySet::State::fault(core::NodeId from, const std::string& message, int code) {
  for (const GatewayMember& member : members) {
    if (member.node == from) continue;
    member.want([message, code](Gateway& gateway) { gateway.fault(message, code); });
  }
  if (!std::exchange(told_end, true)) user->fault(message, code);
}

// Strangers who scan ports must not fill anybody's log. The metrics count the last ones, which no
// line follows.
void GatewaySet::State::rejected(const std::string& sentence) {
  if (const auto line = rejections.add(sentence)) user->rejected(log::text_of(*line));
}

}  // namespace isthmus::daemon
