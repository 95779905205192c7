// The results of a simulation, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "coll/engine/algorithm.hpp"
#include "sim/simulation.hpp"

namespace isthmus::sim {

/// Times in seconds, of `problem` as it was simulated.
nlohmann::json report(const Simulation& simulation, const coll::Problem& problem);

}  // namespace isthmus::sim
