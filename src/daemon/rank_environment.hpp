// What ranks find in their environment (docs/control.md), and how `isthmusd exec` reads it.
#pragma once

#include <string>
#include <vector>

#include "daemon/environment.hpp"
#include "daemon/requests.hpp"

namespace isthmus::daemon {

struct RankSetup {
  std::string job;
  std::string secret;  ///< raw bytes
  std::string world;   ///< JSON, addresses as this cluster's ranks see them; empty: no grid to join
  std::string cluster;
  int first = 0;
  std::string stub;     ///< empty: nothing is preloaded
  std::string library;  ///< the libmpi that the stub is for
  std::string libdir;
  std::string wdir;
  bool tag_output = false;
  bool by_rank = false;  ///< ranks find their program in ISTHMUS_PARTS
  std::vector<SpawnRequest::Part> parts;
};

/// Sets the variables and returns their names, for launchers that must be told.
std::vector<std::string> set_rank_environment(const RankSetup& setup, Environment& environment);

}  // namespace isthmus::daemon
