// How an agent goes on without its launcher, in a run that survives (docs/surviving.md).
#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/alone.hpp"
#include "daemon/agent/gateway_desk.hpp"
#include "daemon/agent/gateway_reports.hpp"
#include "daemon/agent/rank_desk.hpp"
#include "daemon/control/control_channel.hpp"
#include "daemon/control/requests.hpp"

namespace isthmus::daemon {

/// Inactive until `begin`.
class Headless {
 public:
  /// What it needs of the agent, all of which outlives it.
  struct Agent {
    asio::io_context& context;
    ControlChannel& channel;
    GatewayDesk& gateways;
    RankDesk& ranks;
    GatewayReports& reports;
    AgentEnding& ending;
    std::function<void(int status)> stop;  ///< ends this agent and its ranks; only the first counts
    std::function<void()> abandon;         ///< no rank uses the gateways here
  };
  explicit Headless(Agent agent) : agent_(std::move(agent)) {}

  /// The launcher has not ended the run, and the run can do without it. `request` is null before
  /// `configure`.
  bool may_begin(const ConfigureRequest* request) const;
  /// The launcher is lost. The request outlives this object.
  void begin(const ConfigureRequest& request);
  bool begun() const { return alone_ != nullptr; }

  /// The native launcher has ended, now or before `begin`. The agent's end follows if it has begun.
  void ranks_ended(int status);

 private:
  void leave_if_done();

  Agent agent_;
  const ConfigureRequest* request_ = nullptr;
  std::unique_ptr<Alone> alone_;
  bool all_done_ = false;  // no rank is left in the run
};

}  // namespace isthmus::daemon
