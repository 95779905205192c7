// Processes of several runs that have met (docs/joining.md). Each run has its own numbers for all
// processes. So members of several runs use common values for joint decisions and messages: the run
// that a process belongs to, and its number there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/world/group.hpp"

namespace isthmus::face {

/// Whether the world, as this process last had to know it, has processes of other runs.
bool knows_guests();
/// An order of processes in which all runs agree; within a run that of the nodes.
bool precedes(int node, int other);

/// A group in a form that processes of any run understand. It may name processes that this process
/// has not heard of yet: then reading it waits for that news. Throws MpiError for invalid
/// words.
std::vector<std::int32_t> group_to_words(const core::Group& group);
core::Group group_from_words(std::span<const std::int32_t> words);

}  // namespace isthmus::face
