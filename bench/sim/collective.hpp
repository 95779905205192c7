// One collective of MPI, with arguments of no contents.
#pragma once

#include <functional>

#include "coll/engine/algorithm.hpp"
#include "sim/simulation.hpp"

namespace isthmus::sim {

/// Each kind's `size` is that of `isthmus bench coll`: of the message, of one rank's vector, of one
/// rank's block.
coll::Problem problem_of(coll::Kind kind, std::size_t size, int ranks);

/// The task of every rank. All memory is coll::phantom's.
std::function<coll::Task(SimulatedParty&)> collective(coll::Kind kind, std::size_t size, int ranks);

}  // namespace isthmus::sim
