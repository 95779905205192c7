#include "core/base/wipe.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
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

// Freed memory could show the bytes, so this looks at an object's own.
TEST(Wipe, ASecretLeavesNothingBehind) {
  alignas(Secret) std::array<unsigned char, sizeof(Secret)> place{};
  const auto has = [&place](std::string_view bytes) {
    const std::string_view all(reinterpret_cast<const char*>(place.data()), place.size());
    return all.find(bytes) != std::string_view::npos;
  };
  auto* const secret = new (place.data()) Secret("short one");
  ASSERT_TRUE(has("short one"));
  *secret = "other one";
  EXPECT_FALSE(has("short one"));
  const Secret moved(std::move(*secret));
  EXPECT_EQ(moved, "other one");
  EXPECT_FALSE(has("ther one"));
  *secret = moved;
  ASSERT_TRUE(has("other one"));
  secret->~Secret();
  EXPECT_FALSE(has("other one"));
}

}  // namespace
}  // namespace isthmus::core
