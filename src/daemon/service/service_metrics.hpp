// The metrics of a service for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/metrics/door_metrics.hpp"
#include "daemon/service/user_desk.hpp"

namespace isthmus::daemon {

/// `counts` is what each user has now, and `past` what its processes that are gone had. `refused`
/// is the number of refused connections that named no user.
std::string service_metrics(const std::map<std::string, UserCounts>& counts,
                            const std::map<std::string, UserCounts>& past, std::uint64_t refused,
                            const DoorCounts& doors);

}  // namespace isthmus::daemon
