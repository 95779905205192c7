#include "core/after_pause.hpp"

#include <gtest/gtest.h>

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;

TEST(AfterPause, LastsSoManyRoundTripsFromTheFirstThatIsSent) {
  AfterPause pause;
  pause.set_round_trip(10ms);
  EXPECT_TRUE(pause.holds(1s));
  pause.sent(1s);
  EXPECT_TRUE(pause.holds(1s + 79ms));
  pause.sent(1s + 79ms);
  EXPECT_FALSE(pause.holds(1s + 81ms));
}

TEST(AfterPause, BeginsAgainAfterAPauseAlone) {
  AfterPause pause;
  pause.set_round_trip(10ms);
  pause.sent(1s);
  pause.sent(1s + 100ms);
  pause.sent(1s + 290ms);
  EXPECT_FALSE(pause.holds(1s + 480ms));
  EXPECT_TRUE(pause.holds(1s + 491ms));
  pause.sent(1s + 500ms);
  EXPECT_TRUE(pause.holds(1s + 579ms));
  EXPECT_FALSE(pause.holds(1s + 581ms));
}

}  // namespace
}  // namespace isthmus::core
