#include "mpi/native/handle_uses.hpp"

#include <gtest/gtest.h>

namespace isthmus::face {
namespace {

TEST(HandleUses, WhatNothingUsesIsFreedAtOnce) {
  HandleUses uses;
  EXPECT_FALSE(uses.put_off_free(7));
  uses.begin(8);
  EXPECT_FALSE(uses.put_off_free(7));
  EXPECT_FALSE(uses.end(8));
}

TEST(HandleUses, TheLastUserFreesWhatTheProgramHasFreed) {
  HandleUses uses;
  uses.begin(7);
  uses.begin(7);
  EXPECT_TRUE(uses.put_off_free(7));
  EXPECT_FALSE(uses.end(7));
  EXPECT_TRUE(uses.end(7));
}

TEST(HandleUses, WhatTheProgramKeepsIsNobodysToFree) {
  HandleUses uses;
  uses.begin(7);
  EXPECT_FALSE(uses.end(7));
  EXPECT_FALSE(uses.put_off_free(7));
}

TEST(HandleUses, AHandleThatComesBackBeginsAnew) {
  HandleUses uses;
  uses.begin(7);
  EXPECT_TRUE(uses.put_off_free(7));
  EXPECT_TRUE(uses.end(7));
  uses.begin(7);  // another object's now
  EXPECT_FALSE(uses.end(7));
}

}  // namespace
}  // namespace isthmus::face
