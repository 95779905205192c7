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

/// The ranks among the descendants of this process, whether they have called MPI_Init, are stopped,
/// or have no part in the grid. The processes that ranks start are left out.
std::vector<RankHere> ranks_here();

}  // namespace isthmus::daemon
