// Text of others, as messages show it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace isthmus::core {

/// The beginning of a UTF-8 text in at most `most` bytes. No character is cut.
inline std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80) --most;
  return text.substr(0, most);
}

/// A peer's reason in at most `most` bytes, without control characters, never empty.
inline std::string peers_words(std::string_view reason, std::size_t most) {
  std::string words(cut_text(reason, most));
  std::ranges::replace_if(
      words, [](unsigned char c) { return c < ' '; }, ' ');
  return words.empty() ? "no reason given" : words;
}

}  // namespace isthmus::core
