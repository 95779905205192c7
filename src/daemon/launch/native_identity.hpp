// Which rank of which native job a process is, by the variables that the native launcher gave it.
#pragma once

#include <string>

#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

/// "NAME=VALUE;NAME=VALUE" for ISTHMUS_NATIVE, by which the entry stub tells this rank from the
/// ranks of a job that is started from within it. A descriptor counts by what is open there in this
/// process.
std::string native_identity(const Environment& environment);

/// Whether `process` has the variables of `rank`, and `rank` has any.
bool is_of_rank(const Environment& process, const Environment& rank);

}  // namespace isthmus::daemon
