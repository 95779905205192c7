// Checks if a grid's clusters stand in one room, by a few messages, if the grid has no figures for
// the network between them. The defaults of Network stand for clusters far apart. With them,
// broadcasts and reductions of 64 KiB to 1 MiB took 5 to 8 times as long as native ones on wires of
// 60 Gbit/s (2026-11, eight ranks, two cores).
#pragma once

#include <functional>
#include <optional>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// Longer round trips than that, in seconds, leave it. They took 50 to 330 us in a lab of 8 nodes
/// on two cores (2026-11).
inline constexpr double kRoomRoundTrip = 1e-3;

/// Rank 0's worst figure over the leaders of the other clusters.
struct Room {
  double bandwidth;  ///< bytes a second, of one stream
};

/// Seconds since some moment.
using Clock = std::function<double()>;

/// Sets `room` at rank 0 if all clusters are in one room, and nowhere else. Takes two round trips
/// to the first leader that is farther away, and a few to each near leader. The arguments must stay
/// until the task has ended.
Task look_for_one_room(Party& party, const Clock& clock, std::optional<Room>& room);

}  // namespace isthmus::coll
