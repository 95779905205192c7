// Finds, among the processes of a rank, one in which MPI has begun without Isthmus, and says why.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>

#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

/// The result of a look at the processes of a rank.
struct Sighting {
  pid_t through = 0;    ///< one that joins the grid, or has; 0: none
  bool joined = false;  ///< it has: all is well
  pid_t bypass = 0;     ///< one in which MPI has begun without Isthmus; 0: none
  std::string program;  ///< its executable
  std::string reason;   ///< a clause that says why, and a sentence with the remedy
};

class RankView {
 public:
  /// Looks at `rank` and all its descendants, also those in podman's containers. `environment` is
  /// that of the rank at its start. Descendants without the native launcher's variables are not
  /// ranks, such as a job that the program starts under a launcher of its own.
  RankView(pid_t rank, const Environment& environment) : rank_(rank), environment_(environment) {}

  Sighting look();

 private:
  void look(pid_t pid, Sighting& found);
  void look_from_outside(pid_t pid, Sighting& found) const;
  void look_into_containers(Sighting& found);
  bool is_rank(const Environment& process) const;
  bool has_mpi_inside(pid_t pid);

  pid_t rank_;
  Environment environment_;
  bool in_container_ = false;
  std::map<std::pair<dev_t, ino_t>, bool> inside_;  // by executable, which may be large
};

}  // namespace isthmus::daemon
