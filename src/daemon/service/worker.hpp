// The process of a service that serves one user. It has all connections of the user's jobs, so the
// system divides the host fairly among users. A crash ends only that user's connections.
#pragma once

namespace isthmus::daemon {

/// The descriptor at which it finds the service (worker_channel.hpp).
constexpr int kWorkerSocket = 3;

/// Until the service is gone. An exit status.
int run_service_worker();

}  // namespace isthmus::daemon
