#include "core/world/limits.hpp"

#include <algorithm>

#include "core/streams/stream_count.hpp"

namespace isthmus::core {

Limits limits_for(int ranks) {
  const auto peers = static_cast<std::size_t>(std::max(2, ranks) - 1);
  return {.window = std::clamp(kMemory / peers, kLeastWindow, kMostWindow), .gathered = kGathered};
}

Limits limits_for(const World& world) {
  Limits limits = limits_for(world.first_size());
  const bool far = std::any_of(world.links.begin(), world.links.end(),
                               [](const Link& link) { return link.rtt >= kFarRoundTrip; });
  if (far) limits.fine_head = kFineHead;
  return limits;
}

}  // namespace isthmus::core
