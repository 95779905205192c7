#include "tcp/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace isthmus::tcpbench {
namespace {

TEST(Task, Pingpong) {
  const Task task = parse_task("pingpong:67108864:200");
  EXPECT_EQ(task.figure, Figure::Pingpong);
  EXPECT_EQ(task.bytes, 67108864U);
  EXPECT_EQ(task.rounds, 200);
}

TEST(Task, TimedOnes) {
  const Task task = parse_task("bidirectional:1048576:3:0.5");
  EXPECT_EQ(task.figure, Figure::Bidirectional);
  EXPECT_EQ(task.rounds, 3);
  EXPECT_DOUBLE_EQ(task.seconds, 0.5);
}

TEST(Task, Loaded) { EXPECT_EQ(parse_task("loaded:8:1073741824").total, 1073741824U); }

class WrongTask : public testing::TestWithParam<const char*> {};

TEST_P(WrongTask, IsRefusedAndQuoted) {
  try {
    parse_task(GetParam());
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam()), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrongTask,
                         testing::Values("", "ping:1:1", "pingpong:0:1", "pingpong:1:0",
                                         "pingpong:1", "pingpong:1:1:1", "pingpong:x:1",
                                         "pingpong:1x:1", "pingpong:-1:1", "pingpong:1073741825:1",
                                         "stream:1:1", "stream:1:1:nan", "stream:1:1:-1",
                                         "loaded:8:0", "rate:8:1:1:1"));

}  // namespace
}  // namespace isthmus::tcpbench
