// A rank whose MPI_Init does not come to Isthmus would compute the whole job in its cluster, beside
// the other clusters. A process beside each rank looks for that until the rank joins the grid. It
// ends the job soon after the native library has begun without that. It also ends the job if the
// rank ends in MPI_Init, or if the native launcher does not start other ranks of this host.
#pragma once

#include <sys/types.h>

#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

/// Starts the watcher of process `rank`, which is or will be what the native launcher started, and
/// of all that it starts. `environment` is the rank's. Does nothing in a grid of one cluster, and
/// where nothing is preloaded. The watcher ends with the rank at the latest. Throws Failure, after
/// a report to a gateway, if the system refuses the process.
void start_rank_watch(pid_t rank, int node, const Environment& environment);

}  // namespace isthmus::daemon
