// The rank's side of InputDoor.
#pragma once

#include <sys/types.h>

#include "daemon/launch/file_descriptor.hpp"
#include "daemon/launch/input_door.hpp"

namespace isthmus::daemon {

/// What process `rank` is to read from: a process beside it fetches the bytes. Returns when that
/// has been let in. When the network fails before the end of input, it says so and kills the rank,
/// which would take it for the end. Throws Failure.
FileDescriptor fetch_input(const InputAddress& address, pid_t rank);

}  // namespace isthmus::daemon
