#include "core/limits.hpp"

#include <algorithm>

namespace isthmus::core {

Limits limits_for(int ranks) {
  const auto peers = static_cast<std::size_t>(std::max(2, ranks) - 1);
  return {.window = std::clamp(kMemory / peers, kLeastWindow, kMostWindow)};
}

}  // namespace isthmus::core
