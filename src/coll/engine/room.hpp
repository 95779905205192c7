// Whether a grid's clusters stand in one room: found out by a few messages where nobody has said
// what is between them. The defaults of Network stand for clusters far apart, by which broadcasts
// and reductions of 64 KiB to 1 MiB took 5 to 8 times as long as native ones on wires of 60 Gbit/s
// (2026-11, eight ranks, two cores).
#pragma once

#include <functional>
#include <optional>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// Longer round trips than that, in seconds, leave it. They took 50 to 330 us in a lab of 8 nodes
/// on two cores (2026-11).
inline constexpr double kRoomRoundTrip = 1e-3;

/// What rank 0 sees of the leaders of the other clusters, the worst of them.
struct Room {
  double bandwidth;  ///< bytes a second, of one stream
};

/// Seconds since some moment.
using Clock = std::function<double()>;

/// Sets `room` at rank 0 where all clusters are in one, and nowhere else. Takes two round trips to
/// the first leader that is farther than that, a few to each that is near. What it refers to must
/// stay until it has ended.
Task look_for_one_room(Party& party, const Clock& clock, std::optional<Room>& room);

}  // namespace isthmus::coll
