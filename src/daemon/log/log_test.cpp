#include "daemon/log/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon::log {
namespace {

std::string said(Level level) {
  testing::internal::CaptureStderr();
  start(level, "east");
  warn("the link is {}", "lost");
  info("{} ranks", 4);
  debug("a stream");
  start(Level::Off, "east");
  return testing::internal::GetCapturedStderr();
}

int lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Log, GraverLinesAreWrittenToo) {
  EXPECT_EQ(said(Level::Off), "");
  const std::string warnings = said(Level::Warn);
  EXPECT_EQ(lines(warnings), 1);
  EXPECT_NE(warnings.find(" warning the link is lost\n"), std::string::npos) << warnings;
  EXPECT_EQ(lines(said(Level::Info)), 2);
  EXPECT_EQ(lines(said(Level::Debug)), 3);
}

TEST(Log, TextOfOthersIsNoFormat) {
  testing::internal::CaptureStderr();
  start(Level::Info, "east");
  info("{}", "100 {} %s");
  start(Level::Off, "east");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("info 100 {} %s\n"), std::string::npos);
}

TEST(Log, LevelsAreKnownByName) {
  EXPECT_EQ(parse_level(""), Level::Off);
  EXPECT_EQ(parse_level("debug"), Level::Debug);
  try {
    parse_level("loud");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("levels are off, warn, info, debug"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace isthmus::daemon::log
