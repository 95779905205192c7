// The launcher's questions about an agent: its ranks, its traffic, its clock and its traces.
#pragma once

#include <memory>
#include <string>

#include "daemon/agent/gateway_desk.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/rank_desk.hpp"
#include "daemon/agent/trace_gathering.hpp"
#include "daemon/control/control_channel.hpp"

namespace isthmus::daemon {

class SightDesk {
 public:
  /// All outlive this object.
  SightDesk(ControlChannel& channel, Orders& orders, const GatewayDesk& gateways,
            const RankDesk& ranks);

  /// Starts this process's trace if the request wants one. Returns its file if the launcher does
  /// not fetch it, else nothing. Throws Failure.
  std::string trace(const ConfigureRequest& request, bool gateways_only);
  /// Null: the launcher fetches none.
  TraceGathering* traces() const { return traces_.get(); }

 private:
  void count(const ControlMessage& message);
  void look(const ControlMessage& message);
  void stats(const ControlMessage& message);
  void tell_clock(const ControlMessage& message);
  void list_traces(const ControlMessage& message);
  void send_trace(const ControlMessage& message);

  ControlChannel& channel_;
  const GatewayDesk& gateways_;
  const RankDesk& ranks_;
  std::unique_ptr<TraceGathering> traces_;
};

}  // namespace isthmus::daemon
