#include "core/agreement/revocation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace isthmus::core {
namespace {

using Verdict = Revocation::Verdict;

constexpr Come inside(std::uint64_t number) { return {.begun = number, .ended = number - 1}; }
constexpr Come after(std::uint64_t number) { return {.begun = number, .ended = number}; }

/// Member 0 of four, which is in collective 5.
Revocation in_the_fifth() {
  Revocation member(0);
  member.revoke(RankSet(4), inside(5));
  return member;
}

TEST(RevocationTest, WhoeverHearsFirstPassesItOn) {
  RankSet failed(4);
  failed.add(0);
  Revocation member(2);
  EXPECT_FALSE(member.revoked());
  EXPECT_EQ(member.revoke(failed, {}), (std::vector<int>{1, 3}));
  EXPECT_TRUE(member.revoked());
  EXPECT_TRUE(member.revoke(failed, {}).empty());
}

TEST(RevocationTest, ACollectiveThatAMemberHasLeftWellEndsWell) {
  Revocation member = in_the_fifth();
  member.hear(1, inside(6));
  member.hear(2, inside(5));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::Open);
  member.hear(3, after(5));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::EndsWell);
}

TEST(RevocationTest, ACollectiveThatNobodyHasLeftEnds) {
  Revocation member = in_the_fifth();
  for (const int rank : {1, 2, 3}) member.hear(rank, inside(5));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::Ends);
}

TEST(RevocationTest, ACollectiveInWhichAMemberTakesNoPartEndsAtOnce) {
  Revocation member = in_the_fifth();
  member.hear(2, after(4));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::Ends);
}

TEST(RevocationTest, AMemberThatHasFailedIsNotAwaited) {
  Revocation member = in_the_fifth();
  member.hear(1, after(5));
  member.hear(3, inside(5));
  RankSet failed(4);
  failed.add(2);
  EXPECT_EQ(member.verdict(failed), Verdict::EndsWell);
  member.hear(2, after(4));  // it had gone another way
  EXPECT_EQ(member.verdict(failed), Verdict::EndsWell);
}

TEST(RevocationTest, AMemberWithoutTheCommunicatorDecidesNothing) {
  Revocation member = in_the_fifth();
  member.hear(1, Come::unknown());
  member.hear(2, inside(5));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::Open);
  member.hear(3, after(5));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::EndsWell);
}

TEST(RevocationTest, AllHearTheSameOfAMemberThatHasTheCommunicatorLater) {
  Revocation late(3);
  late.has_answered();  // member 1, which asked early
  late.revoke(RankSet(4), {});
  Revocation member = in_the_fifth();
  member.hear(1, inside(5));
  member.hear(2, after(5));
  Revocation asked = member;
  asked.hear(3, Come::unknown());
  member.hear(3, late.told());
  EXPECT_EQ(asked.verdict(RankSet(4)), Verdict::EndsWell);
  EXPECT_EQ(member.verdict(RankSet(4)), asked.verdict(RankSet(4)));
}

TEST(RevocationTest, AMemberWithTheCommunicatorTellsHowFarItHasCome) {
  EXPECT_EQ(in_the_fifth().told().bytes(), inside(5).bytes());
}

TEST(RevocationTest, TheFirstMessageOfAMemberCounts) {
  Revocation member = in_the_fifth();
  member.hear(2, after(4));
  member.hear(2, after(5));
  EXPECT_EQ(member.verdict(RankSet(4)), Verdict::Ends);
}

TEST(RevocationTest, AMemberBetweenCollectivesAwaitsNothing) {
  Revocation member(0);
  member.revoke(RankSet(2), after(5));
  EXPECT_EQ(member.verdict(RankSet(2)), Verdict::Ends);
}

TEST(RevocationTest, AMessageSaysHowFarItsSenderHasCome) {
  std::vector<std::byte> bytes = inside(5).bytes();
  const std::optional<Come> come = Come::read(bytes);
  ASSERT_TRUE(come);
  EXPECT_EQ(come->begun, 5U);
  EXPECT_EQ(come->ended, 4U);
  bytes.push_back({});
  EXPECT_FALSE(Come::read(bytes));
  EXPECT_FALSE(Come::read(std::span(bytes).first(8)));
}

/// Members that do one collective after another, each of which needs all. Messages come in any
/// order, one at a time.
class Members {
 public:
  explicit Members(std::uint64_t seed) : random_(seed), all_(kSize) {}

  /// Empty: all members have ended the same collectives well.
  void run() {
    while (!over()) {
      const int who = static_cast<int>(random_() % kSize);
      const std::uint64_t what = random_() % 3;
      if (what == 0) {
        go_on(who);
      } else if (what == 1) {
        deliver(who);
      } else if (random_() % 40 == 0) {
        revoke(who);
      }
    }
    for (const Member& each : all_) EXPECT_EQ(each.well, all_.front().well);
  }

 private:
  static constexpr int kSize = 5;
  struct Member {
    std::uint64_t begun = 0, well = 0;
    bool gone = false;  // its last collective has ended with an error
    std::optional<Revocation> revocation;
    std::vector<std::pair<int, Come>> inbox;
  };

  Member& member(int rank) { return all_[static_cast<std::size_t>(rank)]; }

  void revoke(int rank) {
    Member& me = member(rank);
    if (!me.revocation) me.revocation.emplace(rank);
    const Come come = me.gone ? after(me.well) : Come{.begun = me.begun, .ended = me.well};
    for (const int to : me.revocation->revoke(RankSet(kSize), come)) {
      member(to).inbox.emplace_back(rank, come);
    }
  }

  void deliver(int rank) {
    Member& me = member(rank);
    if (me.inbox.empty()) return;
    const auto which = me.inbox.begin() + static_cast<long>(random_() % me.inbox.size());
    const auto [from, come] = *which;
    me.inbox.erase(which);
    revoke(rank);
    me.revocation->hear(from, come);
  }

  // Begins or ends a collective, as far as the revocation and the others let it.
  void go_on(int rank) {
    Member& me = member(rank);
    const bool revoked = me.revocation.has_value();
    if (me.gone) return;
    if (me.begun == me.well) {
      if (revoked) {
        me.gone = true;
      } else {
        ++me.begun;
      }
      return;
    }
    const Verdict verdict = revoked ? me.revocation->verdict(RankSet(kSize)) : Verdict::EndsWell;
    if (verdict == Verdict::Ends) me.gone = true;
    const bool all_here =
        std::ranges::all_of(all_, [&](const Member& each) { return each.begun >= me.begun; });
    if (verdict == Verdict::EndsWell && all_here) ++me.well;
  }

  bool over() const {
    return std::ranges::all_of(all_, [](const Member& each) { return each.gone; });
  }

  std::mt19937_64 random_;
  std::vector<Member> all_;
};

TEST(RevocationTest, AllMembersEndTheSameCollectivesWell) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Members(seed).run();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace isthmus::core
