#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>

#include "core/agreement/agreement_testbed.hpp"

namespace isthmus::core {
namespace {

using Step = AgreeingMembers::Step;

/// Steps of members that live, since a failed one may stop at any time.
std::vector<Step> of_the_living(const AgreeingMembers& members, std::vector<Step> steps) {
  std::erase_if(steps, [&](const Step& step) {
    return step.kind == Step::Kind::Declare || members.failed(step.who);
  });
  return steps;
}

/// Takes steps in random order until the living members have nothing left to do.
void run(AgreeingMembers& members, int failures, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // A failure waits for this number of steps, so that it is as likely early as late.
  std::uint64_t calm = random() % 40;
  while (true) {
    std::vector<Step> steps = members.steps(failures);
    if (of_the_living(members, steps).empty()) break;
    if (calm > 0) {
      --calm;
      std::erase_if(steps, [](const Step& step) { return step.kind == Step::Kind::Declare; });
    }
    const Step& step = steps[random() % steps.size()];
    if (step.kind == Step::Kind::Declare) calm = random() % 40;
    members.take(step);
    ASSERT_EQ(members.wrong(), "") << "seed " << seed;
  }
  EXPECT_EQ(members.unfinished(), "") << "seed " << seed;
}

TEST(AgreementTest, WithoutFailuresItTakesOneRoundTrip) {
  constexpr int kSize = 8;
  AgreeingMembers members(kSize, 1, 1);
  const auto take_all = [&](Step::Kind kind) {
    const std::vector<Step> steps = members.steps(0);
    for (const Step& step : steps) {
      if (step.kind == kind) members.take(step);
    }
  };
  take_all(Step::Kind::Begin);
  take_all(Step::Kind::Deliver);  // to the coordinator
  take_all(Step::Kind::Deliver);  // from it
  EXPECT_EQ(members.wrong(), "");
  EXPECT_EQ(members.unfinished(), "");
  EXPECT_EQ(members.sent(), 2U * (kSize - 1));
  EXPECT_TRUE(members.steps(0).empty());
}

TEST(AgreementTest, OneMemberAgreesWithItself) {
  AgreeingMembers members(1, 3, 1);
  run(members, 0, 1);
}

TEST(AgreementTest, RandomFailuresSplitNoDecisionAndHangNobody) {
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    const int size = 2 + static_cast<int>(seed % 7);
    const int failures = static_cast<int>(seed / 7 % static_cast<std::uint64_t>(size));
    AgreeingMembers members(size, 1 + static_cast<int>(seed % 4), seed);
    run(members, failures, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(AgreementTest, ManyMembersOfWhichHalfFail) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    AgreeingMembers members(70, 2, seed);
    run(members, 35, seed);
    if (HasFatalFailure()) return;
  }
}

/// Every order of steps, with failures at every step.
class EverySchedule {
 public:
  EverySchedule(int size, int agreements, int failures) : failures_(failures) {
    go_on(AgreeingMembers(size, agreements, 1));
  }
  std::string wrong;
  std::size_t states() const { return seen_.size(); }

 private:
  void go_on(const AgreeingMembers& from) {
    if (!wrong.empty() || !seen_.insert(from.mark()).second) return;
    wrong = from.wrong();
    const std::vector<Step> steps = from.steps(failures_);
    if (wrong.empty() && of_the_living(from, steps).empty()) wrong = from.unfinished();
    for (const Step& step : steps) {
      AgreeingMembers next = from;
      next.take(step);
      go_on(next);
    }
  }

  int failures_;
  std::unordered_set<std::uint64_t> seen_;
};

TEST(AgreementTest, EveryScheduleOfThreeMembersWithTwoFailures) {
  const EverySchedule all(3, 1, 2);
  EXPECT_EQ(all.wrong, "");
  EXPECT_GT(all.states(), 1000U);
  RecordProperty("states", static_cast<int>(all.states()));
}

TEST(AgreementTest, EveryScheduleOfThreeMembersThatAgreeTwiceWithOneFailure) {
  const EverySchedule all(3, 2, 1);
  EXPECT_EQ(all.wrong, "");
  RecordProperty("states", static_cast<int>(all.states()));
}

TEST(AgreementTest, EveryScheduleOfFourMembersWithOneFailure) {
  const EverySchedule all(4, 1, 1);
  EXPECT_EQ(all.wrong, "");
  RecordProperty("states", static_cast<int>(all.states()));
}

/// Two members fail before these steps, the others in random order.
struct TwoFailures {
  int first, before_first, second, before_second;
};

void run(AgreeingMembers& members, const TwoFailures& failures, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int number = 0;; ++number) {
    if (number == failures.before_first) members.take({Step::Kind::Declare, failures.first});
    if (number == failures.before_second) members.take({Step::Kind::Declare, failures.second});
    const std::vector<Step> steps = members.steps(0);
    if (of_the_living(members, steps).empty()) break;
    members.take(steps[random() % steps.size()]);
    ASSERT_EQ(members.wrong(), "") << "seed " << seed;
  }
  EXPECT_EQ(members.unfinished(), "") << "seed " << seed;
}

TEST(AgreementTest, TwoOfFourMembersFailBeforeAnyTwoSteps) {
  constexpr int kSteps = 24;
  std::uint64_t seed = 0;
  for (int pair = 0; pair < 16; ++pair) {
    if (pair / 4 == pair % 4) continue;
    for (int steps = 0; steps < kSteps * kSteps; ++steps) {
      const TwoFailures failures{pair / 4, steps / kSteps, pair % 4, steps % kSteps};
      for (const auto failed : {AgreeingMembers::Failed::GoesOn, AgreeingMembers::Failed::Stops}) {
        AgreeingMembers members(4, 2, ++seed, failed);
        run(members, failures, seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(AgreementTest, MalformedMessagesAreRefused) {
  Agreements member(0, 3);
  AgreementMessages out;
  member.begin(1, RankSet(3), 7, out);
  Agreements other(1, 3);
  other.begin(1, RankSet(3), 7, out);
  ASSERT_EQ(out.size(), 1U);
  const std::vector<std::byte> good = out.front().bytes;
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(member.take(1, std::span(good).first(size), out)) << size;
  }
  EXPECT_FALSE(member.take(3, good, out));
  EXPECT_FALSE(member.take(0, good, out));
  std::vector<std::byte> later = good;
  later.front() = std::byte{3};  // its number
  EXPECT_FALSE(member.take(1, later, out));
  EXPECT_TRUE(member.take(1, good, out));
}

TEST(RankSetTest, RunsTravel) {
  RankSet set(200);
  for (const int rank : {0, 1, 2, 63, 64, 65, 130, 199}) set.add(rank);
  std::vector<std::byte> bytes;
  Writer out(bytes);
  write_ranks(out, set);
  Reader in(bytes);
  EXPECT_EQ(read_ranks(in, 200), set);
  EXPECT_TRUE(in.at_end());
  Reader too_small(bytes);
  EXPECT_FALSE(read_ranks(too_small, 199));
  EXPECT_EQ(RankSet::all(200).first_missing(), 200);
  EXPECT_EQ(RankSet::all(64).first_missing(), 64);
  EXPECT_EQ(set.first_missing(), 3);
  EXPECT_TRUE(set.within(RankSet::all(200)));
  EXPECT_FALSE(RankSet::all(200).within(set));
}

}  // namespace
}  // namespace isthmus::core
