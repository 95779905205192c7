// Ascending numbers in few words: [first, last, step].
#pragma once

#include <array>
#include <span>
#include <vector>

namespace isthmus::face::profile {

/// `numbers` ascend. A function of them alone.
std::vector<std::array<int, 3>> ranges_of(std::span<const int> numbers);

}  // namespace isthmus::face::profile
