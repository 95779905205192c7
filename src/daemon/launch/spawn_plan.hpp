// Turns the launcher's request into the commands that are started natively.
#pragma once

#include <map>
#include <string>

#include "daemon/control/requests.hpp"
#include "daemon/launch/child.hpp"
#include "daemon/launch/find_launcher.hpp"
#include "daemon/launch/program.hpp"

namespace isthmus::daemon {

/// The findings of `inspect`, kept for `spawn`.
struct Inspection {
  Program program;
  Launcher launcher;
  std::string stub;     ///< empty: nothing to preload
  std::string library;  ///< path of the libmpi that the stub is for
};

/// What surrounds a launch.
struct Surroundings {
  std::string world_json;
  int world_size = 0;
  bool shared_host = false;  ///< another cluster of this grid has its agent on this host
  std::string runtime_dir;   ///< a private folder on this host
};

/// Inspects programs and plans launches for one configured cluster.
class SpawnPlanner {
 public:
  SpawnPlanner(ConfigureRequest configure, std::string self, int hangup_fd);

  const Site& site() const { return site_; }
  /// Throws Failure. Remembers the answer. `mpi`: as the grid file's key, which it replaces.
  const Inspection& inspect(const std::vector<std::string>& argv, const std::string& mpi);
  /// Whether all ranks that this launcher starts run on this host.
  bool ranks_are_here(const Launcher& launcher) const;
  /// The command and environment that start all parts. Throws Failure, also when the parts use
  /// different MPI libraries.
  ChildPlan plan(const SpawnRequest& request, const Surroundings& around);

 private:
  Program find_out(const std::vector<std::string>& argv) const;
  Inspection find_all(const std::vector<std::string>& argv, const std::string& mpi) const;
  std::optional<MpiLibrary> library_asked_for(const Launcher& launcher, const MpiChoice& mpi) const;

  ConfigureRequest configure_;
  std::string self_;
  std::string libdir_;
  bool alone_;  // the world is this cluster: its ranks are a native job
  Site site_;
  std::map<std::vector<std::string>, Inspection> inspected_;  // by mpi and argv
};

}  // namespace isthmus::daemon
