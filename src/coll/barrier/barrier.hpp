// The algorithms of MPI_Barrier: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task barrier_magpie(Party&, Parameters);
Task barrier_tree(Party&, Parameters);
Task barrier_counterparts(Party&, Parameters);
Task barrier_fan(Party&, Parameters);
Task barrier_commons(Party&, Parameters);

double cost_barrier_magpie(const Setting&, const Parameters&);

extern const Algorithm kBarrierMagpie;
extern const Algorithm kBarrierTree;
extern const Algorithm kBarrierCounterparts;
extern const Algorithm kBarrierFan;
extern const Algorithm kBarrierCommons;

}  // namespace isthmus::coll
