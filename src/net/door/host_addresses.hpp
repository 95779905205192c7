// The addresses at which this host can be reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isthmus::net {

/// The name of this host, as `hostname` prints it.
std::string host_name();

/// "tcp:ADDRESS:port" for every address of an interface that is up. Loopback addresses come only
/// without any others. At most 16.
std::vector<std::string> host_addresses(std::uint16_t port);

/// A listening address with the host's own address in place of a subnet ("tcp:10.1.0.0/16:7400") or
/// an interface ("tcp:%eth1:7400"); others as they are. Throws ListenError where the host has none.
std::string at_own_address(const std::string& address);

}  // namespace isthmus::net
