#include "mpi/request/core_sharing.hpp"

#include <gtest/gtest.h>

namespace isthmus::face {
namespace {

using namespace std::chrono_literals;

TEST(CoreSharing, OthersAreNoticedAtOnceAndForgottenSlowly) {
  CoreSharing sharing;
  EXPECT_FALSE(sharing.shared());
  sharing.gave_way(500ns);
  EXPECT_FALSE(sharing.shared());
  sharing.gave_way(5us);
  EXPECT_TRUE(sharing.shared());
  for (int i = 1; i < CoreSharing::kRemembered; ++i) sharing.gave_way(500ns);
  EXPECT_TRUE(sharing.shared());
  sharing.gave_way(500ns);
  EXPECT_FALSE(sharing.shared());
}

TEST(CoreSharing, EachTurnOfOthersIsRememberedAnew) {
  CoreSharing sharing;
  sharing.gave_way(5us);
  for (int i = 1; i < CoreSharing::kRemembered; ++i) sharing.gave_way(500ns);
  sharing.gave_way(CoreSharing::kOthersTurn);
  for (int i = 1; i < CoreSharing::kRemembered; ++i) sharing.gave_way(500ns);
  EXPECT_TRUE(sharing.shared());
}

}  // namespace
}  // namespace isthmus::face
