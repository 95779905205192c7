#include "coll/engine/task.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coll/engine/party.hpp"

namespace isthmus::coll {
namespace {

struct Switch {
  bool on = false, broken = false;
  int destroyed = 0;
};

struct Flip : Operation {
  explicit Flip(Switch& s) : state(s) {}
  ~Flip() override { ++state.destroyed; }
  bool poll() override {
    if (state.broken) throw MpiError(5, "broken");
    return state.on;
  }
  Switch& state;
};

Pending wait_for(Switch& s) { return Pending(std::make_unique<Flip>(s)); }

Task leaf(Switch& s, std::string& log, std::vector<int> kept) {  // kept by the frame
  log += 'a';
  co_await wait_for(s);
  log += std::to_string(kept.size());
}

Task nest(Switch& first, Switch& second, std::string& log) {
  co_await leaf(first, log, std::vector<int>(2));
  co_await leaf(second, log, std::vector<int>(3));
}

Task forgiving(Switch& s, std::string& log) {
  try {
    co_await leaf(s, log, std::vector<int>());
  } catch (const MpiError& failure) {
    log += failure.what();
  }
}

/// A Flip that can be waited for: block() turns it on.
struct Alarm final : Flip {
  using Flip::Flip;
  bool block() override { return state.on = true; }
};

Task first_one_then_the_other(Switch& alarm, Switch& flip) {
  Pending p(std::make_unique<Alarm>(alarm));
  co_await p;
  co_await wait_for(flip);
}

Task nested(Switch& alarm, Switch& flip) { co_await first_one_then_the_other(alarm, flip); }

TEST(Task, BlocksInWhatItsNextStepNeedsWhereThatCan) {
  Switch alarm, flip;
  Task task = nested(alarm, flip);
  EXPECT_FALSE(task.block());  // has not begun
  EXPECT_FALSE(task.step());
  EXPECT_TRUE(task.block());
  EXPECT_TRUE(alarm.on);
  EXPECT_FALSE(task.step());
  EXPECT_FALSE(task.block());  // a Flip cannot
  flip.on = true;
  EXPECT_TRUE(task.step());
  EXPECT_FALSE(task.block());
}

TEST(Task, RunsWhenSteppedAndSuspendsUntilAnOperationIsDone) {
  Switch s;
  std::string log;
  Task task = leaf(s, log, {1});
  EXPECT_EQ(log, "");
  EXPECT_FALSE(task.step());
  EXPECT_FALSE(task.step());
  EXPECT_EQ(log, "a");
  s.on = true;
  EXPECT_TRUE(task.step());
  EXPECT_EQ(log, "a1");
  EXPECT_TRUE(task.finished());
  EXPECT_TRUE(task.step());
  EXPECT_EQ(s.destroyed, 1);
}

TEST(Task, OneStepRunsThroughAllThatIsDone) {
  Switch first, second;
  first.on = second.on = true;
  std::string log;
  Task task = nest(first, second, log);
  EXPECT_TRUE(task.step());
  EXPECT_EQ(log, "a2a3");
}

TEST(Task, PhasesFollowEachOther) {
  Switch first, second;
  std::string log;
  Task task = nest(first, second, log);
  EXPECT_FALSE(task.step());
  second.on = true;
  EXPECT_FALSE(task.step());
  EXPECT_EQ(log, "a");
  first.on = true;
  EXPECT_TRUE(task.step());
  EXPECT_EQ(log, "a2a3");
}

TEST(Task, AFailureWhileSuspendedUnwindsThroughThePhases) {
  Switch first, second;
  std::string log;
  Task task = nest(first, second, log);
  EXPECT_FALSE(task.step());
  first.broken = true;
  EXPECT_THROW(task.step(), MpiError);
  EXPECT_TRUE(task.finished());
  EXPECT_TRUE(task.step());
  EXPECT_EQ(log, "a");
  EXPECT_EQ(first.destroyed, 1);
}

TEST(Task, AFailureAtOnceUnwindsToo) {
  Switch first, second;
  first.broken = true;
  std::string log;
  Task task = nest(first, second, log);
  EXPECT_THROW(task.step(), MpiError);
  EXPECT_TRUE(task.finished());
}

TEST(Task, AnAwaiterCanCatchWhatAPhaseThrows) {
  Switch s;
  std::string log;
  Task task = forgiving(s, log);
  EXPECT_FALSE(task.step());
  s.broken = true;
  EXPECT_TRUE(task.step());
  EXPECT_EQ(log, "abroken");
}

TEST(Task, DestroyingAnUnfinishedTaskDestroysWhatItHolds) {
  Switch s;
  std::string log;
  {
    Task task = leaf(s, log, {});
    EXPECT_FALSE(task.step());
  }
  EXPECT_EQ(s.destroyed, 1);
}

TEST(Task, MovesLeaveAnEmptyTaskThatIsFinished) {
  Switch s;
  std::string log;
  Task task = leaf(s, log, {});
  Task other = std::move(task);
  EXPECT_TRUE(task.finished());  // NOLINT(bugprone-use-after-move): the moved-from state is defined
  EXPECT_FALSE(other.finished());
  other = Task();
  EXPECT_TRUE(other.finished());
}

}  // namespace
}  // namespace isthmus::coll
