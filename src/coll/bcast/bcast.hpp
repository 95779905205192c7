// The algorithms of MPI_Bcast: coroutines with the arguments of collectives.hpp, and their rows.
// Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task bcast_magpie(Party&, Bytes data, int root, Parameters);
Task bcast_tree(Party&, Bytes data, int root, Parameters);
Task bcast_direct(Party&, Bytes data, int root, Parameters);
Task bcast_farfirst(Party&, Bytes data, int root, Parameters);
Task bcast_van_de_geijn(Party&, Bytes data, int root, Parameters);
Task bcast_van_de_geijn_wan(Party&, Bytes data, int root, Parameters);
Task bcast_striped(Party&, Bytes data, int root, Parameters);
Task bcast_chained(Party&, Bytes data, int root, Parameters);
Task bcast_commons(Party&, Bytes data, int root, Parameters);

double cost_bcast_magpie(const Setting&, const Parameters&);
double cost_bcast_striped(const Setting&, const Parameters&);

extern const Algorithm kBcastMagpie;
extern const Algorithm kBcastTree;
extern const Algorithm kBcastDirect;
extern const Algorithm kBcastFarfirst;
extern const Algorithm kBcastVanDeGeijn;
extern const Algorithm kBcastVanDeGeijnWan;
extern const Algorithm kBcastStriped;
extern const Algorithm kBcastChained;
extern const Algorithm kBcastCommons;

}  // namespace isthmus::coll
