// Facts about this host, for `hello`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace isthmus::daemon {

std::string host_name();
std::string user_name();
/// The same text for processes that can share memory, over a unix socket without a file: those of
/// one network namespace of one running kernel. Empty where it cannot be known.
std::string memory_place();
/// {arch, byteorder, long, long_double}: what clusters must have in common.
nlohmann::json machine();
/// Cores that this process may use.
int usable_cores();
/// Whether the kernel shares them out by sessions and not by processes (sched_autogroup, outside of
/// groups of the CPU controller). `root` is where /proc and /sys stand.
bool shares_cores_by_session(const std::string& root = "");
/// Whether a batch system has given this process its hosts: native launchers then know their own
/// slots.
bool inside_allocation();

}  // namespace isthmus::daemon
