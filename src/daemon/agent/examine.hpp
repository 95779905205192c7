// `isthmusd examine`: what `isthmus doctor` asks of a host.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/launch/find_launcher.hpp"

namespace isthmus::daemon {

/// The grid file's keys of a cluster. Both may be empty.
struct ExamineOptions {
  std::string mpi;
  std::string launch;
};

/// The native MPI of a cluster as `isthmus run` would find it: `launcher`, `library`, `version`,
/// or `error` and `remedy`. `self` is this program.
nlohmann::json examine_mpi(const ExamineOptions& options, const std::string& self);

/// Settings of the kernel that bound TCP, by their sysctl names; those that cannot be read are
/// left out. `root` is where /proc/sys stands.
nlohmann::json examine_tcp(const std::string& root = "/proc/sys");

/// Network interfaces that are up: `name`, `mtu` and `addresses`.
nlohmann::json examine_interfaces();

/// Prints all of it as a line of JSON, then the time of day for each line that comes on `in`,
/// until that ends.
int run_examine(const ExamineOptions& options, const std::string& self, std::istream& in,
                std::ostream& out);

}  // namespace isthmus::daemon
