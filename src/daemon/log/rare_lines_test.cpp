#include "daemon/log/rare_lines.hpp"

#include <gtest/gtest.h>

namespace isthmus::daemon::log {
namespace {

using namespace std::chrono_literals;

TEST(RareLines, TheFirstIsWrittenAtOnceAndTheRestAsOne) {
  RareLines<std::string> lines;
  const RareLines<std::string>::Time begin{1h};
  const auto first = lines.add("one", begin);
  ASSERT_TRUE(first);
  EXPECT_EQ(text_of(*first), "one");
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(lines.add("more", begin + 1ms * i));
  EXPECT_FALSE(lines.add("the last", begin + 2s));
  EXPECT_FALSE(lines.due(begin + kRareLine - 1ms));
  const auto rest = lines.due(begin + kRareLine);
  ASSERT_TRUE(rest);
  EXPECT_EQ(text_of(*rest), "the last, and 1000 more");
  EXPECT_FALSE(lines.due(begin + 1h));
  EXPECT_FALSE(lines.rest());
}

TEST(RareLines, AMinuteOfRefusalsTakesFewLines) {
  RareLines<std::string> lines;
  const RareLines<std::string>::Time begin{1h};
  std::size_t written = 0, bytes = 0;
  std::uint64_t told = 0;
  for (auto time = 0ms; time < 60s; time += 10ms) {
    if (const auto line = lines.add(std::string(5000, 'x'), begin + time)) {
      ++written;
      bytes += text_of(*line).size();
      told += line->count;
    }
  }
  if (const auto line = lines.rest()) told += line->count;
  EXPECT_LE(written, 60U);
  EXPECT_LE(bytes, 10'000U);
  EXPECT_EQ(told, 6000U);
}

}  // namespace
}  // namespace isthmus::daemon::log
