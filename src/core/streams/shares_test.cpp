#include "core/streams/shares.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "core/base/claim.hpp"
#include "core/streams/pace.hpp"

namespace isthmus::core {
namespace {

using namespace std::chrono_literals;
using Time = Shares::Time;

constexpr double kRate = 125e6;
constexpr Time kRoundTrip = 20ms, kToGateway = 100us, kStep = 50us;

// Members of a cluster, their gateway, and the queue before the wide area, step by step.
class SharingCluster {
 public:
  explicit SharingCluster(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) members_.emplace_back(size);
  }

  // Sets a member's demand from now on: nothing, a number of bytes a second, or all that it may.
  static constexpr double kAll = 1e18;
  void wish(std::size_t member, double bytes_per_second) {
    members_[member].wish = bytes_per_second;
    members_[member].due = 0;
  }

  // Returns what each has sent meanwhile.
  std::vector<double> run(Time length) {
    std::vector<double> before;
    for (const Member& m : members_) before.push_back(m.sent);
    for (const Time end = now_ + length; now_ < end; now_ += kStep) step();
    for (std::size_t i = 0; i < members_.size(); ++i) before[i] = members_[i].sent - before[i];
    return before;
  }

  double most_queued() const { return most_; }
  std::size_t told() const { return told_; }
  void forget_most() { most_ = 0; }

 private:
  struct Member {
    explicit Member(std::size_t size) {
      pace.set(kRate, Time::zero());
      pace.share(1.0 / static_cast<double>(size), Time::zero());
    }
    Pace pace;
    Claim claim{kRate, kRoundTrip};
    double wish = 0, due = 0, sent = 0;
  };

  void later(std::function<void()> what) { mail_.emplace_back(now_ + kToGateway, std::move(what)); }

  void step() {
    constexpr std::size_t kFrame = 16'000;
    const double seconds = std::chrono::duration<double>(kStep).count();
    while (!mail_.empty() && mail_.front().first <= now_) {
      const auto what = std::move(mail_.front().second);
      mail_.pop_front();
      what();
    }
    queue_ = std::max(0.0, queue_ - kRate * seconds);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      Member& m = members_[i];
      m.due = std::min(m.due + m.wish * seconds, 1e6);
      while (m.due >= kFrame && m.pace.may_send(now_)) {
        m.pace.sent(kFrame);
        m.claim.sent(kFrame, now_);
        m.due -= kFrame;
        m.sent += kFrame;
        queue_ += kFrame;
      }
      if (m.due >= kFrame) m.claim.held_back(now_);
      if (const auto at = m.claim.deadline(); at && *at <= now_) m.claim.look(now_);
      if (const auto part = m.claim.news(now_)) {
        later([this, i, part] {
          shares_.claim(static_cast<NodeId>(i), *part, now_);
          tell();
        });
      }
    }
    most_ = std::max(most_, queue_);
    if (now_ % 100ms == 0ns) {
      shares_.tick(now_);
      tell(true);
    } else if (rise_ && *rise_ <= now_) {
      rise_.reset();
      tell(true);
    }
  }

  void tell(bool risen = false) {
    for (const Shares::News& news : shares_.news(risen)) {
      ++told_;
      later([this, news] { members_[news.member].pace.share(news.level, now_); });
    }
    if (shares_.waits() && !rise_) rise_ = now_ + kRoundTrip / 4;
  }

  std::vector<Member> members_;
  std::deque<std::pair<Time, std::function<void()>>> mail_;
  Shares shares_;
  std::optional<Time> rise_;
  double queue_ = 0, most_ = 0;
  std::size_t told_ = 0;
  Time now_{};
};

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }
double carried(Time length) { return kRate * std::chrono::duration<double>(length).count(); }

TEST(Shares, ALoneSenderHasTheWholeRateAtOnce) {
  SharingCluster cluster(8);
  cluster.wish(3, SharingCluster::kAll);
  EXPECT_GT(cluster.run(20ms)[3], 0.95 * carried(20ms));
  EXPECT_GT(cluster.run(1s)[3], 0.99 * carried(1s));
}

TEST(Shares, ThoseThatBeginTogetherOverflowNothingAndHaveAlikeWithinARoundTrip) {
  for (const std::size_t n : {2U, 8U, 64U}) {
    SharingCluster cluster(n);
    for (std::size_t i = 0; i < n; ++i) cluster.wish(i, SharingCluster::kAll);
    cluster.run(2 * kRoundTrip);
    const auto each = cluster.run(500ms);
    EXPECT_GT(sum(each), 0.95 * carried(500ms)) << n;
    for (const double sent : each) {
      EXPECT_NEAR(sent * static_cast<double>(n), sum(each), 0.1 * sum(each)) << n;
    }
    // Queues usually hold a round trip's worth. 64 first frames are 0.4 of it.
    EXPECT_LT(cluster.most_queued(), (n > 8 ? 0.8 : 0.35) * carried(kRoundTrip)) << n;
  }
}

TEST(Shares, OneThatComesHasItsShareAndOneThatGoesLeavesIt) {
  SharingCluster cluster(8);
  cluster.wish(0, SharingCluster::kAll);
  cluster.run(1s);
  cluster.wish(1, SharingCluster::kAll);
  cluster.run(2 * kRoundTrip);
  auto each = cluster.run(200ms);
  EXPECT_NEAR(each[0], each[1], 0.1 * each[0]);
  EXPECT_GT(sum(each), 0.95 * carried(200ms));
  cluster.wish(0, 0);
  cluster.run(4 * kRoundTrip);
  EXPECT_GT(cluster.run(200ms)[1], 0.98 * carried(200ms));
  EXPECT_LT(cluster.most_queued(), 0.35 * carried(kRoundTrip));
}

TEST(Shares, WhatOneDoesNotUseIsTheOthers) {
  SharingCluster cluster(4);
  cluster.wish(0, 0.05 * kRate);
  for (const std::size_t i : {1U, 2U, 3U}) cluster.wish(i, SharingCluster::kAll);
  cluster.run(300ms);
  const auto each = cluster.run(1s);
  EXPECT_NEAR(each[0], 0.05 * carried(1s), 0.01 * carried(1s));
  EXPECT_GT(sum(each), 0.93 * carried(1s));
  // It comes to want more, and has as much as the others soon.
  cluster.wish(0, SharingCluster::kAll);
  cluster.forget_most();
  cluster.run(2 * kRoundTrip);
  const auto alike = cluster.run(200ms);
  EXPECT_NEAR(alike[0], alike[1], 0.1 * alike[1]);
  EXPECT_LT(cluster.most_queued(), 0.35 * carried(kRoundTrip));
}

TEST(Shares, ThoseThatBeginAgainAndAgainTogetherOverflowNothing) {
  SharingCluster cluster(8);
  for (int turn = 0; turn < 20; ++turn) {
    for (std::size_t i = 0; i < 8; ++i) cluster.wish(i, SharingCluster::kAll);
    cluster.run(30ms);
    for (std::size_t i = 0; i < 8; ++i) cluster.wish(i, 0);
    cluster.run(turn % 2 == 0 ? 5ms : 300ms);
  }
  EXPECT_LT(cluster.most_queued(), 0.35 * carried(kRoundTrip));
}

TEST(Shares, ManyThatBeginTogetherAreToldSeldom) {
  constexpr std::size_t kMany = 1000;
  Shares shares;
  std::size_t told = 0;
  for (NodeId i = 0; i < kMany; ++i) {
    shares.claim(i, 1, 0ns);
    told += shares.news(false).size();
  }
  EXPECT_LT(told, kMany * 60);
  shares.tick(100ms);
  for (const auto& news : shares.news(true)) EXPECT_NEAR(news.level * kMany, 0.97, 1e-9);
  shares.tick(200ms);
  EXPECT_TRUE(shares.news(true).empty());
}

TEST(Shares, ThoseThatBeginAgainTogetherHearNothingNew) {
  constexpr NodeId kMembers = 8;
  Shares shares;
  std::size_t told = 0;
  const auto all_claim = [&](double part) {
    for (NodeId i = 0; i < kMembers; ++i) {
      shares.claim(i, part, 0ns);
      told += shares.news(false).size();
    }
  };
  all_claim(1);
  shares.tick(1ms);
  shares.news(true);
  all_claim(0);
  told = 0;
  shares.claim(0, 1, 0ns);
  EXPECT_TRUE(shares.news(false).empty());
  EXPECT_TRUE(shares.waits());
  all_claim(1);
  EXPECT_FALSE(shares.waits());
  EXPECT_TRUE(shares.news(true).empty());
  EXPECT_EQ(told, 0U);
}

TEST(Shares, WhoIsLeftHearsOfTheRiseAMomentLaterUnlessItClaimsLess) {
  Shares shares;
  for (const NodeId i : {1U, 2U, 3U}) shares.claim(i, 1, 0ns);
  EXPECT_EQ(shares.news(false).size(), 3U);
  shares.claim(1, 0, 0ns);
  shares.claim(2, 0.3, 0ns);
  EXPECT_TRUE(shares.news(false).empty());
  EXPECT_TRUE(shares.waits());
  const auto news = shares.news(true);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].member, 3U);
  EXPECT_NEAR(news[0].level, 0.67, 1e-9);
}

TEST(Shares, AClaimThatIsNotRenewedEnds) {
  Shares shares;
  shares.claim(1, 1, 0s);
  shares.claim(2, 1, 0s);
  EXPECT_EQ(shares.news(false).size(), 2U);
  shares.claim(2, 1, 2s);
  shares.tick(3s);
  const auto news = shares.news(true);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].member, 2U);
  EXPECT_EQ(news[0].level, 1);
}

TEST(Shares, TakesNoNonsense) {
  Shares shares;
  shares.claim(1, std::numeric_limits<double>::quiet_NaN(), 0s);
  shares.claim(2, -1, 0s);
  shares.forget(3);
  EXPECT_EQ(shares.size(), 0U);
  shares.claim(4, 7, 0s);
  ASSERT_EQ(shares.news(false).size(), 1U);
  EXPECT_EQ(shares.level(), 1);
}

TEST(Claim, SmallMessagesAreNotWorthAWord) {
  Claim claim(kRate, kRoundTrip);
  for (Time now{}; now < 10s; now += 1ms) {
    claim.sent(500, now);
    EXPECT_FALSE(claim.news(now));
  }
  EXPECT_FALSE(claim.deadline());
}

TEST(Claim, IsRenewedAndCeases) {
  Claim claim(kRate, kRoundTrip);
  std::size_t told = 0;
  Time now{};
  for (; now < 10s; now += 1ms) {
    claim.sent(125'000, now);
    claim.held_back(now);
    told += claim.news(now).has_value() ? 1 : 0;
  }
  EXPECT_GE(told, 18U);
  EXPECT_LE(told, 21U);
  while (const auto at = claim.deadline()) {
    ASSERT_LT(*at, now + 5 * kRoundTrip);
    claim.look(*at);
  }
  EXPECT_EQ(claim.news(now), 0.0);
  EXPECT_FALSE(claim.news(now));
}

}  // namespace
}  // namespace isthmus::core
