// The metrics of a job, as an agent knows them: docs/metrics.md lists them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/world/world.hpp"
#include "daemon/gateway/gateway.hpp"
#include "daemon/metrics/door_metrics.hpp"

namespace isthmus::daemon {

struct JobCounts {
  std::vector<LinkCount> links{};
  std::map<std::string, int> joined{};   ///< ranks, by those clusters whose agent this is
  std::map<std::string, bool> spares{};  ///< that have joined a running run: false if they left
  /// The lists of docs/control.md's `stats`.
  nlohmann::json direct = nlohmann::json::array(), crossings = nlohmann::json::array();
  DoorCounts doors{};
};

/// Names clusters by their names, and gateways of a cluster by its name and a number from 0.
std::string metrics_text(const std::string& job, const core::World& world, const JobCounts& counts);

}  // namespace isthmus::daemon
