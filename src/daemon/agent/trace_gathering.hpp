// The traces of one agent's cluster, from where they are written until the launcher has fetched
// them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/trace_folder.hpp"
#include "daemon/control/requests.hpp"
#include "daemon/launch/spawn_plan.hpp"

namespace isthmus::daemon {

class TraceGathering {
 public:
  /// Gathers traces of this process, and of ranks on this host, in TMPDIR or /tmp. Throws Failure.
  explicit TraceGathering(std::string job);

  /// The folder of this host.
  const std::string& here() const { return here_.path(); }
  /// Tells the ranks where to write their traces. Ranks on other hosts write to the working
  /// directory, which the hosts of a cluster share. Throws Failure.
  void tell_ranks(SpawnRequest& request, SpawnPlanner& planner);
  std::vector<TraceFolder::File> files() const;
  /// As TraceFolder::read; throws Failure where no folder has it.
  std::string read(const std::string& name, std::size_t offset, std::size_t most) const;

 private:
  std::string job_;
  TraceFolder here_;
  std::unique_ptr<TraceFolder> shared_;  // made when it is needed
};

/// Starts this process's trace where `request` wants one, and tells where it goes, else nothing.
/// `gathering` is null where none are gathered. Throws Failure.
std::string start_trace(const ConfigureRequest& request, bool gateways_only,
                        const TraceGathering* gathering);

}  // namespace isthmus::daemon
