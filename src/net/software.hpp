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

/// How long a process whose connection is closed, though neither end did so, tries to have another;
/// its gateway waits a little longer. Long enough for a box on the way that has forgotten the
/// connection; short, since the other end may as well be dead. Where the network fails instead, a
/// process with other gateways tries for kFailover, one without for the conduit's patience.
inline constexpr std::chrono::milliseconds kReconnect{2000}, kAwaitReconnect{3000};
inline constexpr std::chrono::seconds kFailover{10};

}  // namespace isthmus::net
