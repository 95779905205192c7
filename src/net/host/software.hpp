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

/// The time that a process tries to connect again after a close that neither end made. Its gateway
/// waits a little longer. It is long enough for a box on the way that has forgotten the connection.
/// It is short, since the other end may also be dead. If the network fails instead, a process with
/// other gateways tries for kFailover, and one without for the conduit's patience.
inline constexpr std::chrono::milliseconds kReconnect{2000}, kAwaitReconnect{3000};
/// In a run that goes on without clusters that fail, its gateway waits for this time: the others
/// wait for the error meanwhile. Processes try at once.
inline constexpr std::chrono::milliseconds kAwaitReconnectOrGoOn{150};
inline constexpr std::chrono::seconds kFailover{10};

}  // namespace isthmus::net
