// The profile of this process (docs/profile.md), from joining the grid until the launcher has it.
#pragma once

namespace isthmus::face::profile {

/// When MPI is initialized: the clock and the sampler run. Once.
void begin();
/// Before the process leaves the grid: sends the launcher all counts. Once.
void tell();
/// As tell(), in a process that is about to end otherwise: it does not wait for long.
void tell_soon();

}  // namespace isthmus::face::profile
