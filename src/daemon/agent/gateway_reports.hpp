// Turns the events of an agent's gateways into messages for the launcher (docs/control.md).
#pragma once

#include "daemon/control/control_channel.hpp"
#include "daemon/gateway/gateway_set.hpp"

namespace isthmus::daemon {

/// The state of an agent that ends.
struct AgentEnding {
  /// The ranks, if they have joined, have been told of a fault or abort, and end by themselves.
  bool broken = false;
  bool stopping = false;
};

/// Both outlive the gateways. Sets `broken`. Failures are not reported after `stopping` is set.
GatewaySetEvents reports_of_gateways(ControlChannel& channel, AgentEnding& ending);

}  // namespace isthmus::daemon
