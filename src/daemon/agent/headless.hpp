// Lets an agent go on without its launcher, in a run that survives (docs/surviving.md).
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/alone.hpp"
#include "daemon/agent/gateway_desk.hpp"
#include "daemon/agent/gateway_reports.hpp"
#include "daemon/agent/question.hpp"
#include "daemon/agent/rank_desk.hpp"
#include "daemon/control/control_channel.hpp"
#include "daemon/control/requests.hpp"

namespace isthmus::daemon {

/// Inactive until `begin`. If another cluster fails then, the ranks here end, too. Only the
/// clusters on the launcher's host may be given up, by the rules of Quorum.
class Headless {
 public:
  /// The parts of the agent that it uses; all outlive it.
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
  explicit Headless(Agent agent);

  /// The launcher has not ended the run, and the run can do without it. `request` is null before
  /// `configure`.
  bool may_begin(const ConfigureRequest* request) const;
  /// The launcher is lost. Agents notice that within this patience (0: not known). The request
  /// outlives this object.
  void begin(const ConfigureRequest& request, std::chrono::milliseconds patience);
  bool begun() const { return alone_ != nullptr; }

  /// The native launcher has ended, now or before `begin`. The agent's end follows if it has begun.
  void ranks_ended(int status);

 private:
  void judge_soon();
  void judge();
  void recall();
  void ask();
  void give_up();
  void learn(core::NodeId agreed);
  void leave_if_done();

  Agent agent_;
  const ConfigureRequest* request_ = nullptr;
  std::unique_ptr<Alone> alone_;
  std::optional<Question> question_;
  asio::steady_timer timer_;  // of the question
  bool all_done_ = false;     // no rank is left in the run
};

}  // namespace isthmus::daemon
