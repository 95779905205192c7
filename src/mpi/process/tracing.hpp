// The trace of a rank (core/trace/trace.hpp): begun when it joins the grid.
#pragma once

#include "core/world/world.hpp"
#include "mpi/native/environment.hpp"

namespace isthmus::face {

/// Starts tracing as set by ISTHMUS_TRACE and its likes. Throws std::invalid_argument with a
/// sentence.
void start_trace(const Environment& environment, const core::World& world, int world_rank);

}  // namespace isthmus::face
