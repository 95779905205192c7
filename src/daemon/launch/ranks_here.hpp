// The ranks of this agent's cluster that run on its host, as the kernel sees their processes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace isthmus::daemon {

struct RankHere {
  int rank = -1;  ///< in its MPI_COMM_WORLD
  pid_t pid = -1;
  std::string program;  ///< its words; at most 120 bytes
};

/// Of what descends from this process: whoever was started as a rank, whether it has called
/// MPI_Init, is stopped, or has no part in the grid. What ranks start is left out.
std::vector<RankHere> ranks_here();

}  // namespace isthmus::daemon
