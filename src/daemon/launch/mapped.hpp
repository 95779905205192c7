// The parts of MPI and of Isthmus in the memory of a running process, from /proc.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace isthmus::daemon {

/// The mappings of a process that matter here.
struct Mapped {
  bool joins = false;              ///< it joins the grid, or has: MPI_Init came to Isthmus
  bool joined = false;             ///< it has
  std::vector<std::string> stubs;  ///< ABIs of the entry stubs: "ompi"
  /// Path of an MPI library without a stub in the process. Empty: there is none.
  std::string bare_library;
  bool covered_library = false;  ///< an MPI library for which there is one
  /// The MPI libraries' variables that begin as zeros.
  struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Span> variables;
  int c_libraries = 0;  ///< copies of the C library: more than one where dlmopen was called
};

/// Reads the lines of /proc/PID/maps.
Mapped read_maps(std::istream& maps);
/// Whether an MPI library of the process has begun, as its MPI_Init does: it has written to many of
/// its variables. True also where that cannot be seen.
bool mpi_has_begun(int pid, const Mapped& mapped);

/// Empty if the process has ended, or belongs to another user.
std::optional<Mapped> mapped_in(int pid);

}  // namespace isthmus::daemon
