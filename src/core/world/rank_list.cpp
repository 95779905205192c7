#include "core/world/rank_list.hpp"

#include <charconv>
#include <stdexcept>

namespace isthmus::core {
namespace {

/// Takes a number off the beginning of `text`.
int number(std::string_view& text, std::string_view whole) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) {
    throw std::invalid_argument("\"" + std::string(whole) + "\" is no list of ranks");
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string ranks_to_text(std::span<const int> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    const int stride = end < ranks.size() ? ranks[end] - ranks[i] : 0;
    while (stride > 0 && end < ranks.size() && ranks[end] - ranks[end - 1] == stride) ++end;
    // Two that are not neighbours are not shorter as a range.
    if (stride != 1 && end - i < 3) end = i + 1;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (end - i > 1) text += '-' + std::to_string(ranks[end - 1]);
    if (end - i > 1 && stride != 1) text += ':' + std::to_string(stride);
    i = end;
  }
  return text;
}

std::vector<int> ranks_from_text(std::string_view text, int most) {
  const std::string_view whole = text;
  const auto refuse = [whole](const char* why) {
    throw std::invalid_argument("\"" + std::string(whole) + "\" " + why);
  };
  std::vector<int> ranks;
  while (!text.empty()) {
    const int first = number(text, whole);
    const int last = skip(text, '-') ? number(text, whole) : first;
    const int stride = skip(text, ':') ? number(text, whole) : 1;
    if (last < first || stride < 1) refuse("is no list of ranks");
    const auto count = static_cast<std::size_t>((last - first) / stride) + 1;
    if (count > static_cast<std::size_t>(most) - ranks.size()) refuse("has too many ranks");
    for (std::size_t i = 0; i < count; ++i) ranks.push_back(first + static_cast<int>(i) * stride);
    if (!text.empty() && (!skip(text, ',') || text.empty())) refuse("is no list of ranks");
  }
  return ranks;
}

}  // namespace isthmus::core
