// Agents that have lost their launcher, over gateways that pass agreements on, in virtual time.
#include "daemon/agent/question.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace isthmus::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = Question::Clock;

constexpr std::chrono::milliseconds kPatience = 20s;
constexpr std::chrono::milliseconds kWay = 10ms;  // of one link

/// Cluster a is on the launcher's host, which is lost. Each other agent has one gateway.
class Others {
 public:
  enum : std::size_t { B, C, Relay };

  /// Gateways of b and c, and a relay; `links` are between them.
  explicit Others(std::vector<std::pair<std::size_t, std::size_t>> links)
      : links_(std::move(links)), agents_(3) {
    for (const char* name : {"a", "b", "c"}) {
      core::Cluster& cluster = world_.clusters.emplace_back();
      cluster.name = name;
      cluster.size = 2;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      core::Gateway& gateway = world_.gateways.emplace_back();
      gateway.node = core::kFirstGateway + static_cast<core::NodeId>(i);
      if (i < 3) gateway.clusters = {i};
      if (i == 3) gateway.name = "relay";
    }
  }

  void lose_launcher(std::size_t i, bool suspects = false) {
    Agent& agent = agents_[i];
    agent.question.emplace(Quorum(world_, {{0}, {node(SIZE_MAX)}, 1}), kPatience);
    if (i != Relay) agent.question->quorum().have_ranks(i + 1);
    if (suspects) agent.question->quorum().suspect(0);
    for (const auto gateway : agent.question->recall(agent.heard, now_)) learn(i, gateway);
    judge(i);
  }

  void run_for(std::chrono::milliseconds time) {
    const auto end = now_ + time;
    while (!events_.empty() && events_.begin()->first <= end) {
      now_ = events_.begin()->first;
      const auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
    }
    now_ = end;
  }

  bool gave_up(std::size_t i) const { return agents_[i].gave_up; }
  /// Why the agent has ended; empty: it has not.
  const std::string& end(std::size_t i) const { return agents_[i].end; }
  bool asks(std::size_t i) const { return agents_[i].asks && !gave_up(i) && end(i).empty(); }

 private:
  struct Agent {
    std::optional<Question> question;  // it has lost the launcher
    Question::Agreements heard;        // before
    std::set<core::NodeId> passed_on;  // by its gateway
    bool asks = false, gave_up = false;
    std::string end;
  };

  static core::NodeId node(std::size_t i) {
    return core::kFirstGateway + static_cast<core::NodeId>(i + 1);
  }

  void learn(std::size_t i, core::NodeId gateway) {
    if (agents_[i].question->quorum().agree(gateway)) pass_on(i, gateway);
  }

  void pass_on(std::size_t i, core::NodeId gateway) {
    if (!agents_[i].passed_on.insert(gateway).second) return;
    for (const auto& [one, other] : links_) {
      if (one != i && other != i) continue;
      const std::size_t to = one == i ? other : one;
      events_.emplace(now_ + kWay, [=, this] { hear(to, gateway); });
    }
  }

  void hear(std::size_t i, core::NodeId gateway) {
    Agent& agent = agents_[i];
    if (!agent.end.empty()) return;
    pass_on(i, gateway);
    if (!agent.question) {
      agent.heard.emplace(gateway, now_);
      return;
    }
    learn(i, gateway);
    judge(i);
  }

  void judge(std::size_t i) {
    Agent& agent = agents_[i];
    if (!agent.end.empty()) return;
    auto next = agent.question->judge(now_);
    if (next == Question::Next::Ask) {
      agent.asks = true;
      learn(i, node(i));
      events_.emplace(agent.question->due(), [=, this] { judge(i); });
      next = agent.question->judge(now_);
    }
    if (next == Question::Next::GiveUp) {
      agent.gave_up = true;
      agent.question->quorum().fail(0);
    }
    if (next == Question::Next::End) agent.end = agent.question->why();
  }

  core::World world_;
  const std::vector<std::pair<std::size_t, std::size_t>> links_;
  std::vector<Agent> agents_;
  std::multimap<Clock::time_point, std::function<void()>> events_;
  Clock::time_point now_{1h};
};

const std::vector<std::pair<std::size_t, std::size_t>> kNext{{Others::B, Others::C}};
const std::vector<std::pair<std::size_t, std::size_t>> kByRelay{{Others::B, Others::Relay},
                                                                {Others::Relay, Others::C}};

TEST(Question, AnAgentThatNobodyAnswersEndsAfterTwiceThePatience) {
  Others others(kNext);
  others.lose_launcher(Others::B, true);
  others.run_for(2 * kPatience - 1ms);
  EXPECT_TRUE(others.asks(Others::B));
  others.run_for(1ms);
  EXPECT_THAT(others.end(Others::B),
              testing::HasSubstr("may still have the launcher: gateway c/0"));
  EXPECT_THAT(others.end(Others::B), testing::HasSubstr("cluster \"a\" can only be given up if"));
}

TEST(Question, OneThatLosesTheLauncherLaterAgrees) {
  Others others(kNext);
  others.lose_launcher(Others::B, true);
  others.run_for(2 * kPatience - 2 * kWay);
  others.lose_launcher(Others::C);
  EXPECT_TRUE(others.gave_up(Others::C)) << "it has heard of the question before";
  others.run_for(4 * kPatience);
  EXPECT_TRUE(others.gave_up(Others::B));
  EXPECT_EQ(others.end(Others::B), "");
}

TEST(Question, ARelayBetweenThemPassesItOnAlthoughItHasTheLauncher) {
  Others others(kByRelay);
  others.lose_launcher(Others::C);
  others.lose_launcher(Others::B, true);
  others.run_for(3 * kWay);
  EXPECT_FALSE(others.gave_up(Others::B));
  others.run_for(kWay);
  EXPECT_TRUE(others.gave_up(Others::B));
  EXPECT_TRUE(others.gave_up(Others::C));
}

TEST(Question, WithoutTheRelayNobodyAnswers) {
  Others others({kByRelay.front()});
  others.lose_launcher(Others::C);
  others.lose_launcher(Others::B, true);
  others.run_for(2 * kPatience);
  EXPECT_NE(others.end(Others::B), "");
  EXPECT_FALSE(others.gave_up(Others::C));
}

TEST(Question, ARelayAsksAndTheOthersDecide) {
  Others others(kByRelay);
  for (const auto i : {Others::B, Others::C}) others.lose_launcher(i);
  others.lose_launcher(Others::Relay, true);
  others.run_for(3 * kWay);
  for (const auto i : {Others::B, Others::C, Others::Relay}) EXPECT_TRUE(others.gave_up(i)) << i;
}

TEST(Question, ARelayThatAskedInVainIsForgotten) {
  Others others(kByRelay);
  others.lose_launcher(Others::Relay, true);
  others.run_for(2 * kPatience);
  EXPECT_THAT(others.end(Others::Relay), testing::HasSubstr("gateway b/0, gateway c/0"));
  others.run_for(kWay);
  for (const auto i : {Others::B, Others::C}) others.lose_launcher(i);
  others.run_for(4 * kPatience);
  for (const auto i : {Others::B, Others::C}) {
    EXPECT_FALSE(others.asks(i));
    EXPECT_FALSE(others.gave_up(i));
    EXPECT_EQ(others.end(i), "");
  }
}

TEST(Question, ARelaysQuestionIsHeardByThoseThatLoseTheLauncherInTime) {
  Others others(kByRelay);
  others.lose_launcher(Others::Relay, true);
  others.run_for(kPatience);
  for (const auto i : {Others::B, Others::C}) others.lose_launcher(i);
  others.run_for(3 * kWay);
  for (const auto i : {Others::B, Others::C, Others::Relay}) EXPECT_TRUE(others.gave_up(i)) << i;
}

}  // namespace
}  // namespace isthmus::daemon
