// By which addresses this host can be reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isthmus::net {

/// "tcp:ADDRESS:port" for every address of an interface that is up, those of the loopback last and
/// only when there is no other. At most 16.
std::vector<std::string> host_addresses(std::uint16_t port);

}  // namespace isthmus::net
