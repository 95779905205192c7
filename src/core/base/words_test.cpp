#include "core/base/words.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

TEST(Words, CharactersAreNotCut) {
  const std::string text = "a\u00e4\u20ac";  // of 1, 2 and 3 bytes
  const std::size_t sizes[] = {0, 1, 1, 3, 3, 3, 6, 6};
  for (std::size_t most = 0; most < std::size(sizes); ++most) {
    EXPECT_EQ(cut_text(text, most), text.substr(0, sizes[most])) << most;
  }
  EXPECT_EQ(cut_text("\x80\x80\x80", 2), "");
}

TEST(Words, APeersAreOneLine) {
  EXPECT_EQ(peers_words("a\x1b[2J\nb", 100), "a [2J b");
  EXPECT_EQ(peers_words("abc", 2), "ab");
  EXPECT_EQ(peers_words("", 10), "no reason given");
  EXPECT_EQ(peers_words("abc", 0), "no reason given");
}

}  // namespace
}  // namespace isthmus::core
