// The ranks of an agent, and the launcher's messages about them and their programs.
#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/agent.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/rank_job.hpp"
#include "daemon/agent/staging.hpp"
#include "daemon/agent/trace_gathering.hpp"
#include "daemon/control/control_channel.hpp"
#include "daemon/launch/spawn_plan.hpp"

namespace isthmus::daemon {

class RankDesk {
 public:
  /// `around` is complete once the message `link` has come. `ended` is RankJob's. All that is
  /// given outlives this object.
  RankDesk(asio::io_context& context, ControlChannel& channel, Orders& orders,
           const AgentOptions& options, const Surroundings& around, std::function<void(int)> ended);

  /// `traces` is null if none are gathered; else it outlives this object.
  void configure(const ConfigureRequest& request, TraceGathering* traces);
  RankJob& job() { return job_; }
  const RankJob& job() const { return job_; }
  /// The name of the native launcher; empty for a template, or before the start.
  const std::string& launcher() const { return launcher_; }
  /// The ranks' working directory, and their home; empty before the start.
  std::vector<std::string> folders() const;

 private:
  void inspect(const ControlMessage& message);
  void stage(const ControlMessage& message);
  void take_staged(const ControlMessage& message);
  void end_staged(const ControlMessage& message);
  void spawn(const ControlMessage& message);
  void take_stdin(const ControlMessage& message);
  void end_stdin(const ControlMessage& message);
  void signal(const ControlMessage& message);
  void pause(const ControlMessage& message);
  void resume(const ControlMessage& message);
  SpawnPlanner& planner(const char* op);

  ControlChannel& channel_;
  const AgentOptions& options_;
  const Surroundings& around_;
  TraceGathering* traces_ = nullptr;
  std::unique_ptr<SpawnPlanner> planner_;
  std::unique_ptr<StagedFile> staged_;  // what is coming
  std::string launcher_;
  RankJob job_;
};

}  // namespace isthmus::daemon
