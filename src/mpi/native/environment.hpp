// The variables that `isthmus run` leaves in the environment of a rank (docs/control.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/base/wipe.hpp"

namespace isthmus::face {

struct Environment {
  std::string job, world, cluster;
  core::Secret secret;                   ///< raw bytes
  std::string collectives, networks;     ///< ISTHMUS_COLL, ISTHMUS_NETWORK; mostly empty
  std::string algorithms;                ///< ISTHMUS_DEBUG_ALGORITHMS; mostly empty
  std::string trace, trace_directory;    ///< ISTHMUS_TRACE, ISTHMUS_TRACE_DIR; mostly empty
  std::string trace_records;             ///< ISTHMUS_TRACE_RECORDS; mostly empty
  bool trace_gathered = false;           ///< ISTHMUS_TRACE_GATHERED: the launcher fetches it
  std::string ports;                     ///< ISTHMUS_PORTS; mostly empty
  bool sockets = false;                  ///< ISTHMUS_DEBUG_LEG is "socket": no memory with gateways
  std::optional<std::size_t> lend_from;  ///< ISTHMUS_DEBUG_LEND; usually empty
  bool stats = false;                    ///< ISTHMUS_STATS: print statistics in the end
  bool reorders = false;                 ///< ISTHMUS_REORDER: topologies may move ranks
  bool reproducible = false;  ///< ISTHMUS_REPRODUCIBLE: reductions have one order over ranks
  bool survives = false;      ///< ISTHMUS_SURVIVE: the run goes on without clusters that fail
  int first = 0;              ///< world rank of the cluster's native rank 0
};

/// Which part of the grid's command line this process belongs to. Stands once the environment has
/// been read.
const int& appnum();

/// True when this process was started as a rank of a grid.
bool in_grid();
/// Throws std::runtime_error with a sentence that names the variable that is missing or wrong.
/// Overwrites the bytes of the secret in their place.
Environment read_environment();

}  // namespace isthmus::face
