// Ports: where two sides that do not know each other meet.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// How the names of Isthmus's own ports begin; all others are the native library's.
inline constexpr const char* kPortPrefix = "isthmus:";
bool is_own_port(const std::string& name);

/// What a side does at a port.
enum class At { Accept, Connect };
/// A port, as the root has it. `limit`: how many seconds it waits for a side of another run.
struct PortCall {
  std::string name;
  std::optional<double> limit{};
};
/// Meets the other side at a port of Isthmus's own; collective over `comm`, of which `root` alone
/// asks for `port`; all throw what that throws. Returns an MPI error code (raised) or throws
/// coll::Failure.
int meet_at_port(At what, const std::function<PortCall()>& port, int root, MPI_Comm comm,
                 MPI_Comm* newcomm);

}  // namespace isthmus::face
