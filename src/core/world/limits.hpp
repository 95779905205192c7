// The limits of an engine's memory in a process, by the size of the grid.
#pragma once

#include <limits>

#include "core/wire/message.hpp"
#include "core/world/world.hpp"

namespace isthmus::core {

/// The most unmatched bytes of all peers together at one process, except that each peer may have
/// kLeastWindow.
inline constexpr std::size_t kMemory = std::size_t{256} << 20;
inline constexpr std::size_t kLeastWindow = std::size_t{256} << 10;
/// Twice bandwidth x delay of the fattest pipes (10 Gbit/s x 50 ms = 62.5 MB): credit comes late,
/// and an eighth is left to small messages (2026-11: 5.3 to 5.9 Gbit/s by one stream, 4.3 with 64
/// MiB).
inline constexpr std::size_t kMostWindow = std::size_t{128} << 20;

/// For a process of another run, which counts its peers differently.
inline constexpr std::size_t kGuestWindow = kLeastWindow;

/// The frames that a process keeps for each of its gateways until they have arrived, in a grid with
/// several gateways for a cluster. As above, for all peers together.
inline constexpr std::size_t kCustody = std::size_t{64} << 20;

/// The first part of a message in small frames, if some link is long. It is what idle streams may
/// send in their first round trip (stream_count.hpp), a frame each.
inline constexpr std::size_t kFineHead = std::size_t{512} << 10;
/// The same after a pause, until the windows have grown: a large frame would wait for that in one
/// of them. Always, it costs gateways too much: 1677 Mbit/s both ways instead of 1830 (November
/// 2026, 1 Gbit/s, two cores for all).
inline constexpr std::size_t kFineHeadAfterPause = std::size_t{4} << 20;

/// Replaces these values: messages go in large frames from end to end while enough is under way
/// that every window has room for them (AfterPause::flows). Otherwise half of each message of 1 MiB
/// goes in frames of 11 kB.
inline constexpr std::size_t kCoarse = std::numeric_limits<std::size_t>::max();

/// Small messages to one peer that wait to share frames, in bytes.
inline constexpr std::size_t kGathered = std::size_t{16} << 10;

/// `ranks` is the size of the world. The same on every node.
Limits limits_for(int ranks);
/// The limits for the engine of a process of this world.
Limits limits_for(const World& world);

}  // namespace isthmus::core
