// Processes of several runs that have met (docs/joining.md). Each run has numbers of its own for
// all; what members of several runs are to decide alike, or tell each other, goes by what they have
// in common: the run that a process belongs to, and its number there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/group.hpp"

namespace isthmus::face {

/// Whether the world, as this process last had to know it, has processes of other runs.
bool knows_guests();
/// An order of processes in which all runs agree; within a run that of the nodes.
bool precedes(int node, int other);

/// A group as processes of any run understand it. One says of whom it speaks before this process
/// may have heard of them: reading it waits for that news. Throws coll::Failure for what is none.
std::vector<std::int32_t> group_to_words(const core::Group& group);
core::Group group_from_words(std::span<const std::int32_t> words);

}  // namespace isthmus::face
