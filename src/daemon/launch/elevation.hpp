// Programs that run with more rights than their user: the dynamic linker preloads nothing into
// them.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "daemon/host/failure.hpp"
#include "daemon/launch/program.hpp"

namespace isthmus::daemon {

/// The file and the process that starts it, as far as they decide (execve(2), capabilities(7)).
struct Elevation {
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  bool capabilities = false;       ///< the file gives some
  bool nosuid = false;             ///< the file's mount
  bool no_new_privileges = false;  ///< of the process: bits count for nothing, capabilities do
  uid_t user = 0;                  ///< the process's real ones
  gid_t user_group = 0;
};

/// The cause of more rights ("has file capabilities"), and the command that takes them away.
struct Elevated {
  std::string what;
  std::string remedy;
};
/// Returns nothing unless the program gets more rights. `path` is for the command.
std::optional<Elevated> elevated(const Elevation& elevation, const std::string& path);

/// The same for a file that this process would start; nothing where it cannot be examined.
std::optional<Elevated> elevated(const std::string& path);

/// An elevated program that uses MPI cannot be part of a grid. Returns a failure if the program at
/// `path`, or the interpreter of the script there, is one. Throws as inspect_program.
std::optional<Failure> why_not_in_grid(const std::string& path, const Site& site);

}  // namespace isthmus::daemon
