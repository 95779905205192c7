// What an agent's gateways tell, as messages for the launcher (docs/control.md).
#pragma once

#include "daemon/agent/control_channel.hpp"
#include "daemon/gateway/gateway_set.hpp"

namespace isthmus::daemon {

/// How far the end of an agent has come.
struct AgentEnding {
  /// The ranks, if they have joined, have been told of a fault or abort, and end by themselves.
  bool broken = false;
  bool stopping = false;
};

/// Both outlive the gateways. Sets `broken`; once `stopping`, what breaks is no news.
GatewaySetEvents reports_of_gateways(ControlChannel& channel, AgentEnding& ending);

}  // namespace isthmus::daemon
