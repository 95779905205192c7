#include <algorithm>
#include <array>
#include <string>

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

const Algorithm* find_algorithm(Kind kind, std::string_view name) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm& row) {
    return row.kind == kind && row.name == name;
  });
  return found == all.end() ? nullptr : &*found;
}

std::string names_of_algorithms(Kind kind) {
  std::string names;
  for (const Algorithm& row : algorithms()) {
    if (row.kind == kind) names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, kKinds> kNames{
      "barrier", "bcast",     "gather",         "scatter", "allgather", "alltoall",
      "reduce",  "allreduce", "reduce_scatter", "scan",    "exscan"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace isthmus::coll
