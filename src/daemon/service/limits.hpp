// The limits of one user of a service, and of one of the user's keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace isthmus::daemon {

struct UserLimits {
  int jobs = 16;
  int connections = 1024;
  std::uint64_t rate = 0;  ///< bytes a second, all jobs and both ways together; 0: any
  std::uint64_t memory = std::uint64_t{256} << 20;  ///< bytes of what is under way

  /// The buffer of one direction of a connection, so that all of them keep within the memory.
  std::size_t buffer() const {
    const auto share = memory / static_cast<std::uint64_t>(std::max(connections, 1));
    return std::clamp<std::size_t>(share, 4096, 262144);
  }
};

/// The limits of all connections with one key together; 0: those of the user.
struct KeyLimits {
  int connections = 0;
  std::uint64_t rate = 0, memory = 0;  ///< as in UserLimits

  bool any() const { return connections > 0 || rate > 0 || memory > 0; }
  bool operator==(const KeyLimits&) const = default;
  /// As UserLimits::buffer, within both.
  std::size_t buffer(const UserLimits& user) const {
    if (memory == 0) return user.buffer();
    const UserLimits own{
        .connections = connections > 0 ? std::min(connections, user.connections) : user.connections,
        .memory = std::min(memory, user.memory)};
    return std::min(own.buffer(), user.buffer());
  }
};

}  // namespace isthmus::daemon
