// The release of Isthmus, and the limits of the conduits of processes.
#pragma once

#include <chrono>
#include <string>

namespace isthmus::net {

std::string software();

/// The patience of a conduit between a process and its gateway on another host. A process may be
/// stopped for a while (a debugger, SIGSTOP). On one host the kernel tells at once when the other
/// end dies, so silence never counts.
inline constexpr std::chrono::seconds kProcessPatience{120};

}  // namespace isthmus::net
