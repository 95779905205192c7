// Settings and counters of a link as JSON, for the command line and the control socket.
#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include "lab/channel.hpp"

namespace isthmus::lab {

/// Index 0 is from a to b, 1 from b to a.
using LinkSettings = std::array<ChannelSettings, 2>;

/// `{"both": {...}, "ab": {...}, "ba": {...}}`, all optional, each with any of `delay` and `jitter`
/// (seconds), `rate` (bits per second, 0: unlimited), `queue` (bytes, 0: unlimited), `loss` and
/// `duplicate` (probabilities), `corrupt` (bytes, 0: never), `reorder`, `up`, `overhead` (bytes per
/// packet), `open` (IPv4 addresses that may be connected to in this direction; null: all). Changes
/// only the named ones. Throws std::invalid_argument, and then has changed nothing.
LinkSettings changed(const LinkSettings& settings, const nlohmann::json& changes);

nlohmann::json to_json(const ChannelSettings& settings);
nlohmann::json to_json(const ChannelCounters& counters);

}  // namespace isthmus::lab
