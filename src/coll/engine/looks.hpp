// Pipelines of programs that compute meanwhile, and only look in between (MPI_Test).
#pragma once

#include <algorithm>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// How many more of `segments` to keep under way if no thread waits in MPI, so that they last until
/// the next look. It is a 12th, which keeps the links busy with 50 looks. On 16 nodes of 100
/// Mbit/s, 99 % of 3.2 MB then overlap in ibcast, ireduce and iallreduce, and 82 % of 1 MiB for
/// each rank in iscatter (without it 47, 64, 56 and 65 %; November 2026). More would delay a rank
/// that does wait.
inline std::size_t between_looks(const Party& party, std::size_t segments) {
  constexpr std::size_t kLooks = 12, kMost = 64;  // the most bounds what collectors have to keep
  return party.attended() ? 0 : std::min(segments / kLooks, kMost);
}

}  // namespace isthmus::coll
