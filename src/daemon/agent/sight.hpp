// The state of an agent, its gateways and its host while a run goes on.
#pragma once

#include <nlohmann/json.hpp>

#include "daemon/gateway/gateway_set.hpp"

namespace isthmus::daemon {

/// The message `stats`: what has crossed so far, and this process's processor time in seconds.
/// `gateways` may be null: none are open yet.
nlohmann::json stats(const GatewaySet* gateways);
/// The same as `look`, where `direct` is of processes that have left: the others answer `where`.
nlohmann::json look(const GatewaySet* gateways);
/// The ranks that run on this host: rank, process id and program of each.
nlohmann::json processes_here();
/// Nanoseconds since 1970 by this host's clock.
nlohmann::json clock_now();

}  // namespace isthmus::daemon
