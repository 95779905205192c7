// What this process knows of the grid's networks for the choice of collective algorithms
// (coll/engine/network.hpp), by what the world and the launcher say.
#pragma once

#include <string>

#include "coll/engine/network.hpp"
#include "core/world.hpp"

namespace isthmus::face {

/// `text` is ISTHMUS_NETWORK's. Throws std::runtime_error with a sentence where it is wrong.
coll::Network networks_of(const core::World& world, const std::string& text);

/// The same of clusters that turned out to stand in one room: what `text` leaves out is as there.
coll::Network networks_of_room(const core::World& world, const std::string& text, double bandwidth);

/// Whether the clusters may stand in one room, for all that is said of them, and not all is said.
bool may_be_one_room(const core::World& world, const std::string& text);

}  // namespace isthmus::face
