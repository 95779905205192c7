// The release of Isthmus, and the limits of the conduits of processes.
#pragma once

#include <chrono>
#include <string>

namespace isthmus::net {

std::string software();

/// A process may be stopped for a while (a debugger, SIGSTOP), and the kernel tells at once when
/// a process on the same host ends: such conduits never time out, others late.
inline constexpr std::chrono::seconds kProcessTimeout{120};

}  // namespace isthmus::net
