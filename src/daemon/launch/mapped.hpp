// What of MPI and of Isthmus a running process has in its memory, as /proc tells it.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace isthmus::daemon {

/// The files mapped by a process that matter here.
struct Mapped {
  bool face = false;               ///< a face: the program's MPI calls come through Isthmus
  std::vector<std::string> stubs;  ///< ABIs of the entry stubs: "ompi"
  /// Path of an MPI library for which there is no stub in the process; empty: none.
  std::string bare_library;
  bool covered_library = false;  ///< an MPI library for which there is one
};

/// Reads the lines of /proc/PID/maps.
Mapped read_maps(std::istream& maps);
/// Of a process; nothing when it has ended, or is not ours to look at.
std::optional<Mapped> mapped_in(int pid);

}  // namespace isthmus::daemon
