// Algorithms of papers, as published, to compare with. They run only if a user names them. The
// simulation has them, and faces that a lab asks to load them (ISTHMUS_DEBUG_ALGORITHMS).
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

inline constexpr Demands kByName{.by_name = true};
inline constexpr Demands kRankOrderCutByName{
    .commutative = true, .divisible = true, .by_name = true};
inline constexpr std::string_view kMatsuda = "Matsuda et al., CLUSTER 2006";

extern const Algorithm kBcastFarfirst;
extern const Algorithm kBcastVanDeGeijn;
extern const Algorithm kBcastVanDeGeijnWan;
extern const Algorithm kAllreduceTwoTier;
extern const Algorithm kAllreduceRabenseifnerWan;

std::span<const Algorithm> algorithms_of_papers();

}  // namespace isthmus::coll
