// The parts of the collectives for very short messages. The members of a cluster send theirs to its
// leader. The leader sends its result straight to every rank of the other clusters and, while those
// messages cross, to its own ranks. All but the leaders send one message and get one from each
// leader. Nothing remains to be done in a cluster once the other clusters' messages have come, so
// no rank waits for a native collective before or after the delay. One tag serves both ways.
#pragma once

#include <functional>
#include <vector>

#include "coll/engine/algorithm.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

/// Appends the receives of the leaders' messages to this rank: cluster c's in `place(c)`. A leader
/// gets none of its own. An empty place gets none, but with `empty_too`.
void receive_from_leaders(Party& party, int tag, const std::function<Bytes(int cluster)>& place,
                          std::vector<Pending>& pending, bool empty_too = false);

/// Ends at a leader when all members' blocks are in `own`, one after the other (`local`: their
/// sizes); elsewhere when the own one is sent. `empty_too`: members send empty blocks, too.
Task fan_in(Party& party, ConstBytes mine, Bytes own, Sizes local, int tag, bool empty_too = false);

/// At a leader: sends of(rank) to every other rank, those of the other clusters first. Empty data
/// is sent only with `empty_too`. Does nothing on other ranks.
void fan_out(Party& party, int tag, const std::function<ConstBytes(int rank)>& of,
             std::vector<Pending>& pending, bool empty_too = false);

/// `in` bytes from each member to its leader, `out` from there to each rank.
double cost_of_fan(const Setting& setting, double in, double out);

}  // namespace isthmus::coll
