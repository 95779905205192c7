// A pipe that a process hands to a distant descendant on the same host, past everything between.
#pragma once

#include <string>

#include "daemon/launch/child.hpp"

namespace isthmus::daemon {

struct NamedPipe {
  Pipe ends;
  std::string name;  ///< for open_by_name
};

/// Makes a pipe at `path`, in a folder of this user's alone. Other processes cannot open it
/// by /proc/PID/fd, since agents hide that. Throws Failure.
NamedPipe make_named_pipe(const std::string& path);

/// Opens the read end while its owner holds it. Throws Failure when that is not this pipe, or not
/// of this host.
FileDescriptor open_by_name(const std::string& name);

}  // namespace isthmus::daemon
