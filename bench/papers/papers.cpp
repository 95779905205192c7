#include "papers/papers.hpp"

#include <array>

namespace isthmus::coll {

std::span<const Algorithm> algorithms_of_papers() {
  static const std::array kRows{kBcastFarfirst, kBcastVanDeGeijn, kBcastVanDeGeijnWan,
                                kAllreduceTwoTier, kAllreduceRabenseifnerWan};
  return kRows;
}

}  // namespace isthmus::coll
