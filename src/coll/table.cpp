// The table of algorithms.
#include <algorithm>

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

#define ALGORITHM(name) extern const Algorithm k##name;
#include "coll/table.def"
#undef ALGORITHM

namespace {

std::vector<Algorithm>& table() {
  static std::vector<Algorithm> rows{
#define ALGORITHM(name) k##name,
#include "coll/table.def"
#undef ALGORITHM
  };
  return rows;
}

}  // namespace

std::span<const Algorithm> algorithms() { return table(); }

void add_algorithms(std::span<const Algorithm> rows) {
  for (const Algorithm& row : rows) {
    const auto next = std::ranges::find_if(
        table(), [&](const Algorithm& other) { return other.kind > row.kind; });
    table().insert(next, row);
  }
}

}  // namespace isthmus::coll
