#include "core/base/debug_off.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace isthmus::core {
namespace {

bool has(const Mechanisms& mechanisms, Mechanism one) {
  return mechanisms[static_cast<std::size_t>(one)];
}

TEST(DebugOff, OnlyTheNamedOnesAreDisabled) {
  EXPECT_TRUE(parse_mechanisms("").none());
  EXPECT_TRUE(has(parse_mechanisms("crowd"), Mechanism::Crowd));
  const Mechanisms both = parse_mechanisms("after-pause,word-differences");
  EXPECT_EQ(both.count(), 2U);
  EXPECT_TRUE(has(both, Mechanism::AfterPause));
  EXPECT_TRUE(has(both, Mechanism::WordDifferences));
}

TEST(DebugOff, AnUnknownNameIsRefused) {
  EXPECT_THAT([] { parse_mechanisms("turns,crowds"); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::HasSubstr("no mechanism has the name 'crowds'")));
}

}  // namespace
}  // namespace isthmus::core
