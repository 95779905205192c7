#include "core/base/core_sharing.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

TEST(CoreSharing, OthersAreNoticedAtOnceAndForgottenSlowly) {
  CoreSharing sharing;
  EXPECT_FALSE(sharing.shared());
  sharing.yielded(1s, 1s + 500ns);
  EXPECT_FALSE(sharing.shared());
  sharing.yielded(1s, 1s + 5us);
  EXPECT_TRUE(sharing.shared());
  for (int i = 1; i < CoreSharing::kRemembered; ++i) sharing.yielded(1s, 1s + 500ns);
  EXPECT_TRUE(sharing.shared());
  sharing.yielded(1s, 1s + 500ns);
  EXPECT_FALSE(sharing.shared());
}

TEST(CoreSharing, EachTurnOfOthersIsRememberedAnew) {
  CoreSharing sharing;
  sharing.yielded(1s, 1s + 5us);
  for (int i = 1; i < CoreSharing::kRemembered; ++i) sharing.yielded(1s, 1s + 500ns);
  sharing.yielded(1s, 1s + CoreSharing::kOthersTurn);
  for (int i = 1; i < CoreSharing::kRemembered; ++i) sharing.yielded(1s, 1s + 500ns);
  EXPECT_TRUE(sharing.shared());
}

TEST(CoreSharing, WhereOthersComputeAYieldIsTriedSeldom) {
  CoreSharing sharing;
  sharing.yielded(1s, 1s + 50us);
  EXPECT_FALSE(sharing.computing(1s + 50us)) << "a rank that waits, too";
  sharing.yielded(2s, 2s + 4ms);
  EXPECT_TRUE(sharing.computing(2s + 4ms));
  EXPECT_TRUE(sharing.computing(2s + 203ms));
  EXPECT_FALSE(sharing.computing(2s + 204ms));
}

}  // namespace
}  // namespace isthmus::core
