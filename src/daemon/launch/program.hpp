// Finding the user's program on this host and the MPI that it uses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/launch/environment.hpp"
#include "daemon/launch/mpi_library.hpp"

namespace isthmus::daemon {

/// The place where a program is found and run.
struct Site {
  std::string host;
  std::string cluster;
  std::string directory;  ///< working directory; empty: the present one
  Environment environment;
  int hangup_fd = -1;  ///< inspection ends early when its other end closes
};

struct Program {
  std::string path;
  std::optional<MpiLibrary> library;  ///< absent: a program that is not MPI's own
};

/// A path as a shell has it: "~/" is the home folder.
std::string with_home(const std::string& path, const Environment& environment);

/// Path of `name` as a shell would find it from the site's directory and PATH. Throws Failure.
std::string find_program(const std::string& name, const Site& site);

/// Whether a program is a Python interpreter, by its name.
bool is_python(const std::string& path);

/// The file that the kernel runs for the program at `path`: itself, or a script's interpreter.
std::string executed_file(std::string path, const Site& site);

/// The MPI library that the program at `path` itself uses, or the interpreter of the script there.
/// Throws as inspect_program.
std::optional<MpiLibrary> library_of_program(const std::string& path, const Site& site);

/// Finds argv[0] and its MPI library. It asks the dynamic loader for compiled programs, and mpi4py
/// for Python. Scripts and wrappers use what they start (wrapped_program.hpp). Throws Failure for
/// what cannot run here: not found, not executable, another architecture, an MPI library that is
/// missing; Unwearable for an MPI library that is unknown and for MPI linked statically.
Program inspect_program(const std::vector<std::string>& argv, const Site& site);

/// The text of MPI_Get_library_version of `library`. Empty if the library cannot be asked. `self`
/// is this program, which loads the library in a process of its own.
std::string library_version(const std::string& library, const std::string& self, const Site& site);

}  // namespace isthmus::daemon
