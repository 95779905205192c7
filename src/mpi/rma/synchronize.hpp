// Shared by the synchronizing calls.
//
// Each sends all operations gathered for any target: programs wait for others by polling their own
// memory, and may synchronize with no other rank meanwhile.
#pragma once

#include <vector>

#include "mpi/rma/window.hpp"

namespace isthmus::face {

/// Ranks that operations of this process have gone to.
std::vector<int> partners(GridWindow& window);
// In a run whose clusters may fail, the functions below wait for the targets that live. Then they
// throw MpiError if an operation has been lost with one that has failed.

/// All operations to these ranks are done, there and here. Throws MpiError if one has named
/// memory outside of its target's window.
void complete_at_targets(GridWindow& window, const std::vector<int>& ranks, const char* function);
/// The program's memory is its own again.
void complete_locally(GridWindow& window, const std::vector<int>& ranks, const char* function);
/// As complete_at_targets, and their locks are given back.
void unlock(GridWindow& window, const std::vector<int>& locked, const char* function);

}  // namespace isthmus::face
