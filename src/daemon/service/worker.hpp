// The process of a service that serves one user: all connections of the user's jobs are its own,
// so the system shares the host out among users, and what breaks one breaks no other.
#pragma once

namespace isthmus::daemon {

/// The descriptor at which it finds the service (worker_channel.hpp).
constexpr int kWorkerSocket = 3;

/// Until the service is gone. An exit status.
int run_service_worker();

}  // namespace isthmus::daemon
