// What this host is, for `hello`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace isthmus::daemon {

std::string host_name();
std::string user_name();
/// {arch, byteorder, long, long_double}: what clusters must have in common.
nlohmann::json machine();
/// Cores that this process may use.
int usable_cores();
/// Whether a batch system has given this process its hosts: native launchers then know their own
/// slots.
bool inside_allocation();

}  // namespace isthmus::daemon
