// What Prometheus reads of a service.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/service/user_desk.hpp"

namespace isthmus::daemon {

/// Of each user, what it has now and, with `past`, had ever; and how many were refused who named
/// no user.
std::string service_metrics(const std::map<std::string, UserCounts>& counts,
                            const std::map<std::string, UserCounts>& past, std::uint64_t refused);

}  // namespace isthmus::daemon
