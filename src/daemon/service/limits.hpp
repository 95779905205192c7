// What one user of a service may have.
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

  /// Of one way of a connection, so that all of them keep within the memory.
  std::size_t buffer() const {
    const auto share = memory / static_cast<std::uint64_t>(std::max(connections, 1));
    return std::clamp<std::size_t>(share, 4096, 262144);
  }
};

}  // namespace isthmus::daemon
