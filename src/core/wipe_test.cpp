#include "core/wipe.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace isthmus::core {
namespace {

TEST(Wipe, NothingIsLeft) {
  std::string text("thirty-two bytes that are secret");
  const std::string_view there(text.data(), text.size());
  wipe(text);
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(there.find_first_not_of('\0'), std::string_view::npos);
}

}  // namespace
}  // namespace isthmus::core
