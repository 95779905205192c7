// Pipelines of programs that compute meanwhile, and only look in between (MPI_Test).
#pragma once

#include <algorithm>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// Of `segments`, how many more than where somebody waits are to be under way, so that they last
/// from look to look: a 12th, which keeps the links busy with 50 looks. On 16 nodes of 100 Mbit/s
/// then 99 % of 3.2 MB overlap in ibcast, ireduce and iallreduce, and 82 % of 1 MiB for each rank
/// in iscatter; without, 47, 64, 56 and 65 % (November 2026). Not many more than that: one who
/// waits after all waits for them.
inline std::size_t between_looks(const Party& party, std::size_t segments) {
  constexpr std::size_t kLooks = 12, kMost = 64;  // the most bounds what collectors have to keep
  return party.attended() ? 0 : std::min(segments / kLooks, kMost);
}

}  // namespace isthmus::coll
