// A pipe that a process hands to a distant descendant on the same host, past everything between.
#pragma once

#include <string>

#include "daemon/launch/file_descriptor.hpp"

namespace isthmus::daemon {

/// The name of the read end `fd` of a pipe of this process, for open_inherited.
std::string name_of_pipe(int fd);

/// Opens the read end by that name while its owner holds it. Throws Failure when that is not this
/// pipe, or not of this host.
FileDescriptor open_inherited(const std::string& name);

}  // namespace isthmus::daemon
