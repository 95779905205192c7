#include "mpi/profile/ranges.hpp"

namespace isthmus::face::profile {

std::vector<std::array<int, 3>> ranges_of(std::span<const int> numbers) {
  std::vector<std::array<int, 3>> ranges;
  for (const int number : numbers) {
    if (!ranges.empty()) {
      auto& [first, last, step] = ranges.back();
      const bool alone = first == last;
      if (alone || number - last == step) {
        step = number - last;
        last = number;
        continue;
      }
    }
    ranges.push_back({number, number, 1});
  }
  return ranges;
}

}  // namespace isthmus::face::profile
