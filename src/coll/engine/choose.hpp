// Chooses the algorithm for a problem: the requested one, if it can; else the one of the least
// estimated cost. Depends only on values that are the same on all ranks.
#pragma once

#include "coll/engine/algorithm.hpp"
#include "coll/engine/forced.hpp"

namespace isthmus::coll {

struct Choice {
  const Algorithm* algorithm = nullptr;
  Parameters parameters;
};

/// True when all demands of the algorithm hold.
bool fits(const Algorithm& algorithm, const Setting& setting);

/// The estimate that the choice uses, in seconds: by the paths that this problem takes.
double estimate(const Algorithm& algorithm, const Setting& setting, const Parameters& parameters);

Choice choose(const Setting& setting, const Forced& forced);
/// Chooses for the party's layout, network and forced choices; reports the choice to the party.
Choice choose(Party& party, const Problem& problem);

}  // namespace isthmus::coll
