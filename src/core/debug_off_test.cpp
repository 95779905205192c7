#include "core/debug_off.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace isthmus::core {
namespace {

// Each in a process of its own, since the variable is read once.
int ask(const char* names, Mechanism mechanism) {
  setenv("ISTHMUS_DEBUG_OFF", names, 1);
  std::_Exit(off(mechanism) ? 1 : 0);
}

TEST(DebugOffDeathTest, OnlyTheNamedOnesAreDisabled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask("", Mechanism::Crowd), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ask("crowd", Mechanism::Crowd), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(ask("after-pause,word-differences", Mechanism::WordDifferences),
              testing::ExitedWithCode(1), "");
  EXPECT_EXIT(ask("after-pause,word-differences", Mechanism::Crowd), testing::ExitedWithCode(0),
              "");
}

TEST(DebugOffDeathTest, AnUnknownNameEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask("crowds", Mechanism::Crowd), testing::ExitedWithCode(2),
              "no mechanism has the name 'crowds'");
}

}  // namespace
}  // namespace isthmus::core
