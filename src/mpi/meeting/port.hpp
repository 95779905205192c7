// Ports: two sides that do not know each other meet there.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// The prefix of the names of Isthmus's own ports; all others are the native library's.
inline constexpr const char* kPortPrefix = "isthmus:";
bool is_own_port(const std::string& name);

/// The action of a side at a port.
enum class At { Accept, Connect };
/// A port, at the root. `limit`: how many seconds it waits for a side of another run.
struct PortCall {
  std::string name;
  std::optional<double> limit{};
};
/// Meets the other side at a port of Isthmus's own. Collective over `comm`; only `root` calls
/// `port`, and all throw its exception. Returns an MPI error code (raised) or throws MpiError.
int meet_at_port(At what, const std::function<PortCall()>& port, int root, MPI_Comm comm,
                 MPI_Comm* newcomm);

}  // namespace isthmus::face
