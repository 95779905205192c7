// The events of gateways, passed on by their set. News that end a run are passed on once.
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

void GatewaySet::State::once_joined(const std::string& of) {
  if (told_joined.insert(of).second && events.joined) events.joined(of, best(of).size);
}

// No chain of links need lead from one gateway of a cluster to another: each has its own part of
// the grid to tell.
void GatewaySet::State::once_fault(core::NodeId from, const std::string& message, int code) {
  for (const GatewayMember& member : members) {
    if (member.node == from) continue;
    member.want([message, code](Gateway& gateway) { gateway.fault(message, code); });
  }
  events.abort = nullptr;
  if (const auto tell = std::exchange(events.fault, nullptr)) tell(message, code);
}

void GatewaySet::State::once_abort(int rank, int code, const std::string& message) {
  events.fault = nullptr;
  if (const auto tell = std::exchange(events.abort, nullptr)) tell(rank, code, message);
}

// Strangers who scan ports must not fill anybody's log. The metrics count the last ones, which no
// line follows.
void GatewaySet::State::rarely_rejected(const std::string& message) {
  const auto line = rejected.add(message);
  if (line && events.notice) events.notice(log::text_of(*line), false);
}

Gateway::Events GatewaySet::State::heard_by(GatewayThread& thread, core::NodeId node) {
  using Text = const std::string&;
  Gateway::Events heard;
  heard.joined = thread.told<Text>([this](Text of) { once_joined(of); });
  heard.abort = thread.told<int, int, Text>(
      [this](int rank, int code, Text message) { once_abort(rank, code, message); });
  heard.fault = thread.told<Text, int>(
      [this, node](Text message, int code) { once_fault(node, message, code); });
  heard.warning = thread.told<Text>([this](Text message) {
    if (events.notice) events.notice(message, true);
  });
  heard.abandoned = thread.told<>([this] {
    if (++abandoned == members.size() && events.abandoned) events.abandoned();
  });
  heard.silence = thread.told<const LinkSilence&>([this](const LinkSilence& silence) {
    if (events.silence) events.silence(silence);
  });
  heard.here = thread.told<Text>([this](Text whereabouts) {
    if (events.here) events.here(whereabouts);
  });
  heard.ask = thread.told<core::NodeId, std::uint64_t, Text>(
      [this](core::NodeId process, std::uint64_t number, Text request) {
        if (events.ask) events.ask(process, number, request);
      });
  heard.parted = thread.told<Text, Text>([this](Text run, Text message) {
    if (events.parted) events.parted(run, message);
  });
  heard.rejected = thread.told<Text>([this](Text message) { rarely_rejected(message); });
  return heard;
}

}  // namespace isthmus::daemon
