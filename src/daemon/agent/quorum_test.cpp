#include "daemon/agent/quorum.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace isthmus::daemon {
namespace {

using Verdict = Quorum::Verdict;
using Mask = std::uint32_t;  // of clusters

core::NodeId gateway_of(std::size_t cluster) {
  return core::kFirstGateway + static_cast<core::NodeId>(cluster);
}

core::World world_of(const std::vector<int>& sizes) {
  core::World world;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    core::Cluster cluster;
    cluster.name = std::string(1, static_cast<char>('a' + i));
    cluster.size = sizes[i];
    world.clusters.push_back(cluster);
    core::Gateway gateway;
    gateway.node = gateway_of(i);
    gateway.clusters = {i};
    world.gateways.push_back(gateway);
  }
  return world;
}

std::set<std::size_t> members(Mask mask) {
  std::set<std::size_t> found;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((mask >> i & 1U) != 0) found.insert(i);
  }
  return found;
}

LinkRequest::Beside beside(Mask clusters, int least = 1) {
  LinkRequest::Beside made{members(clusters), {}, least};
  for (const std::size_t cluster : made.clusters) made.gateways.insert(gateway_of(cluster));
  return made;
}

int ranks_of(const std::vector<int>& sizes, Mask clusters) {
  int sum = 0;
  for (const std::size_t cluster : members(clusters)) sum += sizes[cluster];
  return sum;
}

// Clusters a, b and c. The launcher is lost, and a was on its host.
struct QuorumOfThree : testing::Test {
  Quorum quorum{world_of({2, 2, 2}), beside(0b001)};
  void agree() {
    for (const auto gateway : quorum.voters()) quorum.agree(gateway);
  }
};

TEST_F(QuorumOfThree, NothingIsSuspected) { EXPECT_EQ(quorum.verdict(), Verdict::GoOn); }

TEST_F(QuorumOfThree, AllOthersHaveToAgree) {
  EXPECT_EQ(quorum.voters(), (std::set{gateway_of(1), gateway_of(2)}));
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::Ask);
  EXPECT_TRUE(quorum.agree(gateway_of(1)));
  EXPECT_FALSE(quorum.agree(gateway_of(1)));
  EXPECT_EQ(quorum.verdict(), Verdict::Ask);
  quorum.agree(gateway_of(2));
  EXPECT_EQ(quorum.verdict(), Verdict::GiveUp);
  quorum.fail(0);
  EXPECT_EQ(quorum.verdict(), Verdict::GoOn);
  quorum.suspect(1);
  EXPECT_EQ(quorum.verdict(), Verdict::End);
}

TEST_F(QuorumOfThree, OneThatSuspectsNobodyAgreesWithOthers) {
  quorum.agree(gateway_of(2));
  EXPECT_EQ(quorum.verdict(), Verdict::Ask);
}

TEST_F(QuorumOfThree, ItDoesNotMatterWhichNewsComesFirst) {
  agree();
  EXPECT_EQ(quorum.verdict(), Verdict::GiveUp);
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::GiveUp);
}

TEST_F(QuorumOfThree, AnotherSuspectEndsAll) {
  quorum.suspect(0);
  quorum.suspect(2);
  agree();
  EXPECT_EQ(quorum.verdict(), Verdict::End);
  EXPECT_THAT(quorum.why(), testing::HasSubstr("nobody can go on without cluster \"c\""));
}

TEST_F(QuorumOfThree, AClusterOnTheLaunchersHostEnds) {
  quorum.have_ranks(0);
  EXPECT_EQ(quorum.verdict(), Verdict::GoOn);
  quorum.agree(gateway_of(1));
  EXPECT_EQ(quorum.verdict(), Verdict::End);
}

TEST_F(QuorumOfThree, AWorldThatHasGrownGivesNobodyUp) {
  quorum.grow();
  EXPECT_EQ(quorum.verdict(), Verdict::GoOn);
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::End);
  EXPECT_THAT(quorum.why(), testing::HasSubstr("the world has grown"));
}

TEST_F(QuorumOfThree, TheWordOfAClusterThatHasFailedSinceDoesNotCount) {
  quorum.agree(gateway_of(2));
  quorum.fail(2);
  EXPECT_EQ(quorum.verdict(), Verdict::GoOn);
  Quorum four(world_of({1, 2, 2, 2}), beside(0b0001));
  four.agree(gateway_of(3));
  four.fail(3);
  EXPECT_EQ(four.verdict(), Verdict::GoOn);
  four.suspect(0);
  EXPECT_EQ(four.verdict(), Verdict::Ask);
  EXPECT_EQ(four.missing(), (std::set{gateway_of(1), gateway_of(2)}));
}

TEST_F(QuorumOfThree, OneOnTheLaunchersHostAsksNobody) {
  quorum.agree(gateway_of(0));
  EXPECT_EQ(quorum.verdict(), Verdict::GoOn);
}

TEST(Quorum, AGatewayThatIsLostHasNoVote) {
  core::World world = world_of({2, 2, 2});
  core::Gateway second = world.gateways[1];
  second.node = gateway_of(9);
  world.gateways.push_back(second);
  Quorum quorum(world, beside(0b001));
  quorum.agree(gateway_of(9));
  EXPECT_EQ(quorum.verdict(), Verdict::Ask);
  quorum.lose(gateway_of(9));
  EXPECT_EQ(quorum.verdict(), Verdict::GoOn);
  quorum.suspect(0);
  EXPECT_EQ(quorum.missing(), (std::set{gateway_of(1), gateway_of(2)}));
  quorum.agree(gateway_of(1));
  quorum.agree(gateway_of(2));
  EXPECT_EQ(quorum.verdict(), Verdict::GiveUp);
  quorum.lose(gateway_of(1));
  EXPECT_EQ(quorum.verdict(), Verdict::End) << "no gateway speaks for cluster b";
  EXPECT_THAT(quorum.why(), testing::HasSubstr("all gateways of cluster \"b\""));
}

TEST(Quorum, ARelayAsksAndDoesNotVote) {
  core::World world = world_of({2, 2, 2});
  core::Gateway relay;
  relay.node = gateway_of(9);
  world.gateways.push_back(relay);
  Quorum quorum(world, beside(0b001));
  quorum.agree(relay.node);
  EXPECT_EQ(quorum.verdict(), Verdict::Ask);
  EXPECT_EQ(quorum.missing(), (std::set{gateway_of(1), gateway_of(2)}));
}

TEST_F(QuorumOfThree, AClusterThatTheLauncherHasGivenUpCountsForNobody) {
  quorum.fail(1);
  quorum.suspect(0);
  EXPECT_EQ(quorum.voters(), (std::set{gateway_of(2)}));
  EXPECT_EQ(quorum.verdict(), Verdict::End);
  EXPECT_THAT(quorum.why(), testing::HasSubstr("have 2 of 6 ranks"));
}

TEST(Quorum, NobodyIsGivenUpUnlessTheLauncherNamesClusters) {
  Quorum quorum(world_of({2, 2, 2}), {});
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::End);
}

TEST(Quorum, HalfIsNotEnough) {
  Quorum quorum(world_of({2, 1, 1}), beside(0b001));
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::End);
  EXPECT_THAT(quorum.why(), testing::HasSubstr("have 2 of 4 ranks"));
}

TEST(Quorum, TooFewClustersWouldBeLeft) {
  Quorum quorum(world_of({2, 2, 2}), beside(0b001, 3));
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::End);
  EXPECT_THAT(quorum.why(), testing::HasSubstr("2 clusters would be left, fewer than 3"));
}

TEST(Quorum, GatewaysOnTheLaunchersHostHaveNoVote) {
  core::World world = world_of({2, 2, 2});
  core::Gateway second = world.gateways[1];
  second.node = gateway_of(9);
  world.gateways.push_back(second);
  auto with = beside(0b001);
  with.gateways.insert(gateway_of(9));
  Quorum quorum(world, with);
  EXPECT_EQ(quorum.voters(), (std::set{gateway_of(1), gateway_of(2)}));
  with.gateways.insert(gateway_of(1));
  quorum = Quorum(world, with);
  quorum.suspect(0);
  EXPECT_EQ(quorum.verdict(), Verdict::End) << "no gateway speaks for cluster b";
}

// The clusters to which a launcher gives way that has lost all others, as
// python/isthmus/place/beside.py has it. Both are checked by quorum_cases.json.
Mask gives_way_to(const std::vector<int>& sizes, Mask here, Mask dead, int least = 1) {
  const Mask all = (Mask{1} << sizes.size()) - 1;
  const Mask unknown = all & ~here & ~dead;
  if (static_cast<int>(members(unknown).size()) < least) return 0;
  return 2 * ranks_of(sizes, unknown) > ranks_of(sizes, all) ? unknown : 0;
}

Mask mask_of(const nlohmann::json& clusters) {
  Mask mask = 0;
  for (const int cluster : clusters) mask |= Mask{1} << cluster;
  return mask;
}

TEST(QuorumOfAPartedNetwork, TheLaunchersRuleHereIsThatOfTheLauncher) {
  std::ifstream file(ISTHMUS_QUORUM_CASES);
  const auto cases = nlohmann::json::parse(file);
  EXPECT_FALSE(cases.empty());
  for (const auto& one : cases) {
    const auto sizes = one.at("ranks").get<std::vector<int>>();
    EXPECT_EQ(gives_way_to(sizes, mask_of(one.at("here")), mask_of(one.at("dead")),
                           one.at("least").get<int>()),
              mask_of(one.at("to")))
        << one.at("name");
  }
}

// A network in pieces. Each living cluster suspects all that are dead or in another piece, and
// hears its own piece. The launcher is in the piece of its clusters. It knows which clusters are
// dead only if `knows`.
struct Split {
  std::vector<int> sizes;
  Mask here = 0;             // on the launcher's host
  Mask dead = 0;             // clusters
  std::vector<Mask> pieces;  // of the network
  bool launcher = true;      // it lives
  bool knows = false;

  Mask all() const { return (Mask{1} << sizes.size()) - 1; }

  bool goes_on_without_launcher(Mask piece) const {
    const Mask living = piece & ~dead;
    std::vector<Quorum> agents;
    for (const std::size_t cluster : members(living)) {
      Quorum& agent = agents.emplace_back(world_of(sizes), beside(here));
      agent.have_ranks(cluster);
      for (const std::size_t other : members(all() & ~living)) agent.suspect(other);
    }
    for (Quorum& asking : agents) {
      if (asking.verdict() != Verdict::Ask) continue;
      for (Quorum& hearing : agents) {
        for (const std::size_t cluster : members(living & ~here)) {
          hearing.agree(gateway_of(cluster));
        }
      }
      break;
    }
    bool on = !agents.empty();
    for (const Quorum& agent : agents) {
      on = on && (agent.verdict() == Verdict::GoOn || agent.verdict() == Verdict::GiveUp);
    }
    return on;
  }

  // The launcher judges as long as it reaches another cluster.
  bool goes_on_with_launcher(Mask piece) const {
    const Mask living = piece & ~dead;
    if (living == 0) return false;
    if ((living & ~here) != 0) return true;
    return gives_way_to(sizes, here, knows ? dead : 0) == 0;
  }

  int going_on() const {
    int count = 0;
    for (const Mask piece : pieces) {
      const bool with = launcher && (piece & here) != 0;
      count += with ? goes_on_with_launcher(piece) : goes_on_without_launcher(piece);
    }
    return count;
  }
};

// Calls `visit` with each partition of the clusters in which those of `here` stay together.
template <class Visit>
void each_partition(std::size_t count, Mask here, std::vector<Mask>& pieces, std::size_t next,
                    const Visit& visit) {
  if (next == count) return visit(pieces);
  const Mask one = Mask{1} << next;
  if ((here & one) != 0) return each_partition(count, here, pieces, next + 1, visit);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i] |= one;
    each_partition(count, here, pieces, next + 1, visit);
    pieces[i] &= ~one;
  }
  pieces.push_back(one);
  each_partition(count, here, pieces, next + 1, visit);
  pieces.pop_back();
}

template <class Visit>
void each_split(const Visit& visit) {
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{1, 2, 4},
                                                                     {2, 4, 1},
                                                                     {4, 1, 2},
                                                                     {2, 2, 2},
                                                                     {3, 2, 2},
                                                                     {2, 3, 3},
                                                                     {1, 1, 2},
                                                                     {1, 2, 3, 5},
                                                                     {5, 3, 2, 1},
                                                                     {2, 2, 2, 2},
                                                                     {3, 1, 1, 1},
                                                                     {1, 4, 2, 2}}) {
    const Mask all = (Mask{1} << sizes.size()) - 1;
    for (Mask here = 1; here <= all; ++here) {
      for (Mask dead = 0; dead <= all; ++dead) {
        std::vector<Mask> pieces{here};
        each_partition(sizes.size(), here, pieces, 0, [&](const std::vector<Mask>& found) {
          for (const bool launcher : {false, true}) {
            for (const bool knows : {false, true}) {
              visit(Split{sizes, here, dead, found, launcher, knows});
            }
          }
        });
      }
    }
  }
}

TEST(QuorumOfAPartedNetwork, AtMostOnePieceGoesOn) {
  int tried = 0;
  each_split([&](const Split& split) {
    ++tried;
    EXPECT_LE(split.going_on(), 1)
        << testing::PrintToString(split.sizes) << " here " << split.here << " dead " << split.dead
        << " pieces " << testing::PrintToString(split.pieces) << " launcher " << split.launcher
        << " knows " << split.knows;
  });
  EXPECT_GT(tried, 10'000);
}

TEST(QuorumOfAPartedNetwork, TheOthersGoOnIfTheLaunchersHostIsLostAndTheyAreTheMajority) {
  int tried = 0;
  each_split([&](const Split& split) {
    const Mask others = split.all() & ~split.here;
    const bool whole = split.pieces == std::vector<Mask>{split.here, others};
    if (split.launcher || split.dead != split.here || !whole) return;
    ++tried;
    const bool majority = 2 * ranks_of(split.sizes, others) > ranks_of(split.sizes, split.all());
    EXPECT_EQ(split.going_on(), majority ? 1 : 0) << testing::PrintToString(split.sizes);
  });
  EXPECT_GT(tried, 0);
}

TEST(QuorumOfAPartedNetwork, TheLauncherGoesOnIfTheOthersAreKnownToBeDead) {
  each_split([&](const Split& split) {
    const Mask others = split.all() & ~split.here;
    if (!split.launcher || !split.knows || split.dead != others) return;
    EXPECT_EQ(split.going_on(), 1);
  });
}

}  // namespace
}  // namespace isthmus::daemon
