// Which native launcher starts the ranks of a program.
#pragma once

#include <optional>
#include <string>

#include "daemon/launch/launcher.hpp"
#include "daemon/launch/program.hpp"

namespace isthmus::daemon {

/// The user's choice of MPI: `mpi` of the grid file, or --mpi. All may be empty.
struct MpiChoice {
  std::string prefix;                 ///< where that MPI is installed
  std::string abi;                    ///< "ompi" or "mpich", for a family's name
  std::optional<MpiLibrary> library;  ///< for the path of a library
};

/// Reads a prefix, "openmpi", "mpich", or the path of a library ("~/" is the home directory).
/// Throws Failure for what is none of these.
MpiChoice read_mpi_choice(const std::string& text, const Site& site);

struct LaunchChoice {
  MpiChoice mpi;
  std::string launch;  ///< `launch`: a name or path, with options of it; or a template with {n} and
                       ///< {command}
};

/// The launcher for programs of this library (absent: any MPI's will do). Throws Failure when
/// there is none, or it belongs to another MPI than the library, or than the choice.
Launcher find_launcher(const LaunchChoice& choice, const std::optional<MpiLibrary>& library,
                       const Site& site);

/// The kind of a launcher, from the output of `path --version`. Throws Failure if no known launcher
/// prints that.
LauncherKind launcher_kind(const std::string& version_text, const std::string& path);

/// The MPI library that belongs to a launcher, for programs that don't say themselves (shell
/// scripts that run MPI programs); absent when none is found.
std::optional<MpiLibrary> library_of_launcher(const Launcher& launcher, const MpiChoice& mpi);

}  // namespace isthmus::daemon
