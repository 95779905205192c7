// Settings given as text: KEY=VALUE,KEY=VALUE.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace isthmus::coll {

/// The text up to `separator`, taken off its front with the separator.
inline std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

inline std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

}  // namespace isthmus::coll
