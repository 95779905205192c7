// The clock of the state machines: time is given to them.
#pragma once

#include <chrono>

namespace isthmus::core {

/// Time since an epoch of the owner's choice; only differences matter.
using Time = std::chrono::nanoseconds;

}  // namespace isthmus::core
