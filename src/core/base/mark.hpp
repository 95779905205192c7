// A mark that a process leaves in its memory, so that others of the host recognize it.
#pragma once

#include <array>
#include <cstdint>

namespace isthmus::core {

/// Unique to this process, and too long to occur by chance.
using Mark = std::array<std::uint64_t, 2>;

/// Random. Throws std::exception if the system has no randomness.
Mark new_mark();

}  // namespace isthmus::core
