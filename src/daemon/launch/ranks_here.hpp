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

/// Whether the name of an executable is that of a native launcher, or of its process on each host.
bool is_native_launcher(const std::string& name);

/// Whether this process has descendants, and all belong to a native launcher: it runs no rank here.
bool only_launchers_here();

}  // namespace isthmus::daemon
