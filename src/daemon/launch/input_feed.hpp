// The rank's side of InputDoor.
#pragma once

#include <sys/types.h>

#include "daemon/host/file_descriptor.hpp"
#include "daemon/launch/input_door.hpp"

namespace isthmus::daemon {

/// The standard input of process `rank`. A process beside it fetches the bytes. Returns when that
/// process has been admitted. If the network fails before the end of input, it reports that and
/// kills the rank, which would take it for the end. Throws Failure.
FileDescriptor fetch_input(const InputAddress& address, pid_t rank);

}  // namespace isthmus::daemon
