// Ranks as people and maps write them: "0-3,8,10-20:2".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isthmus::core {

/// Ranges, with a stride if it is not 1; as short as possible without looking ahead.
std::string ranks_to_text(std::span<const int> ranks);
/// Throws std::invalid_argument for text that is not a list of ranks, or has more than `most`.
std::vector<int> ranks_from_text(std::string_view text, int most);

}  // namespace isthmus::core
