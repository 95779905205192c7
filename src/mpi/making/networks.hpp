// The network figures of the grid for the choice of collective algorithms
// (coll/engine/network.hpp), from the world and the launcher.
#pragma once

#include <string>

#include "coll/engine/network.hpp"
#include "core/world/world.hpp"

namespace isthmus::face {

/// `text` is ISTHMUS_NETWORK's. Throws std::runtime_error with a sentence if it is wrong.
coll::Network networks_of(const core::World& world, const std::string& text);

/// The same for clusters that turned out to stand in one room: that gives the figures missing in
/// `text`.
coll::Network networks_of_room(const core::World& world, const std::string& text, double bandwidth);

/// Whether the known figures allow that the clusters stand in one room, and some figures are
/// unknown.
bool may_be_one_room(const core::World& world, const std::string& text);

}  // namespace isthmus::face
