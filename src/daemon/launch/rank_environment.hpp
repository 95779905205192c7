// The variables in the environment of ranks (docs/control.md), and how `isthmusd exec` reads them.
#pragma once

#include <string>
#include <vector>

#include "core/base/wipe.hpp"
#include "daemon/control/requests.hpp"
#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

/// Before the names of variables whose values `isthmusd exec` gives back to the program. An empty
/// value stands for none.
inline const std::string kKeptPrefix = "ISTHMUS_KEPT_";
/// Names the pipe that native rank 0 opens as its standard input.
inline const std::string kStdinVariable = "ISTHMUS_STDIN";

struct RankSetup {
  std::string job;
  core::Secret secret;  ///< raw bytes
  std::string world;  ///< JSON, addresses as this cluster's ranks see them; empty: no grid to join
  std::string cluster;
  int first = 0;
  int world_size = 0;
  int base = 0;         ///< world rank that the program knows as 0
  int local_first = 0;  ///< ranks of other clusters on this host that count before these
  std::string stub;     ///< empty: nothing is preloaded
  std::string library;  ///< the libmpi that the stub is for
  std::string libdir;
  std::string wdir;
  bool tag_output = false;
  bool by_rank = false;     ///< ranks find their program in ISTHMUS_PARTS
  bool keep_paths = false;  ///< the native launcher changes PATH and LD_LIBRARY_PATH
  std::vector<SpawnRequest::Part> parts;
};

/// Sets the variables and returns their names, for launchers that need a list of them.
std::vector<std::string> set_rank_environment(const RankSetup& setup, Environment& environment);

}  // namespace isthmus::daemon
