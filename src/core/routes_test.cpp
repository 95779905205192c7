#include "core/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>
#include <string>

namespace isthmus::core {
namespace {

using testing::HasSubstr;
using Links = std::vector<ClusterLink>;

World world(const std::vector<int>& gateways_of) {
  World w;
  NodeId node = kFirstGateway;
  for (std::size_t c = 0; c < gateways_of.size(); ++c) {
    w.clusters.push_back({std::string(1, static_cast<char>('a' + c)), static_cast<int>(c), 1});
    for (int i = 0; i < gateways_of[c]; ++i) w.gateways.push_back({node++, c, {}});
  }
  return w;
}

// The clusters that a frame from a gateway passes until it is there, its own left out.
std::string way(const World& w, const Routes& routes, std::size_t gateway, std::size_t to) {
  std::string passed;
  while (w.gateways[gateway].cluster != to) {
    const NodeId next = routes.next[gateway][to];
    if (next == kNobody || passed.size() > w.clusters.size()) return passed + "?";
    gateway = next - kFirstGateway;
    passed += w.clusters[w.gateways[gateway].cluster].name;
  }
  return passed;
}

std::string refusal(const World& w, const Links& links) {
  try {
    compute_routes(w, links);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Routes, AMeshIsDirect) {
  const World w = world({1, 1, 1});
  const Routes routes = compute_routes(w, {});
  EXPECT_EQ(way(w, routes, 0, 2), "c");
  EXPECT_EQ(way(w, routes, 2, 1), "b");
  EXPECT_EQ(routes.next[1][1], kNobody);
  EXPECT_EQ(routes.conduits.size(), 3U);
}

TEST(Routes, AChainPassesThroughItsMiddle) {
  const World w = world({1, 1, 1, 1});
  const Routes routes = compute_routes(w, Links{{0, 1}, {2, 1}, {2, 3}});
  EXPECT_EQ(way(w, routes, 0, 3), "bcd");
  EXPECT_EQ(way(w, routes, 3, 0), "cba");
  EXPECT_EQ(routes.conduits.size(), 3U);
}

TEST(Routes, ATreeGoesUpAndDown) {
  const World w = world({1, 1, 1, 1, 1, 1});
  const Routes routes = compute_routes(w, Links{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}});
  EXPECT_EQ(way(w, routes, 3, 5), "bacf");
  EXPECT_EQ(way(w, routes, 3, 4), "be");
}

TEST(Routes, GatewaysOfAClusterShareTheLoad) {
  const World w = world({2, 3});
  const Routes routes = compute_routes(w, {});
  EXPECT_EQ(routes.next[0][1], kFirstGateway + 2);
  EXPECT_EQ(routes.next[1][1], kFirstGateway + 3);
  EXPECT_EQ(routes.next[4][0], kFirstGateway + 0);
  EXPECT_EQ(routes.conduits.size(), 3U);
  // A diamond: both equally short ways are used.
  const World diamond = world({2, 1, 1, 1});
  const Routes both = compute_routes(diamond, Links{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(way(diamond, both, 0, 3), "bd");
  EXPECT_EQ(way(diamond, both, 1, 3), "cd");
}

TEST(Routes, EveryWayIsShortestOnRandomGrids) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 2 + random() % 7;
    std::vector<int> gateways;
    for (std::size_t c = 0; c < n; ++c) gateways.push_back(1 + static_cast<int>(random() % 3));
    const World w = world(gateways);
    Links links;
    for (std::size_t c = 1; c < n; ++c) links.push_back({c, random() % c});
    for (std::size_t i = random() % 4; i > 0; --i) {
      const std::size_t a = random() % n;
      const std::size_t b = random() % n;
      if (a != b) links.push_back({a, b});
    }
    std::vector<std::vector<std::size_t>> far(n, std::vector<std::size_t>(n, 1000));
    for (std::size_t i = 0; i < n; ++i) far[i][i] = 0;
    for (const auto& [a, b] : links) far[a][b] = far[b][a] = 1;
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) far[i][j] = std::min(far[i][j], far[i][k] + far[k][j]);
      }
    }
    const Routes routes = compute_routes(w, links);
    const std::set<std::pair<NodeId, NodeId>> conduits(routes.conduits.begin(),
                                                       routes.conduits.end());
    for (std::size_t g = 0; g < w.gateways.size(); ++g) {
      for (std::size_t c = 0; c < n; ++c) {
        ASSERT_EQ(way(w, routes, g, c).size(), far[w.gateways[g].cluster][c]);
        if (routes.next[g][c] == kNobody) continue;
        const auto ends = std::minmax(w.gateways[g].node, routes.next[g][c]);
        ASSERT_TRUE(conduits.contains(std::pair(ends)));
      }
    }
  }
}

TEST(Routes, NamesWhatCannotBeReached) {
  const std::string parts = refusal(world({1, 1, 1, 1}), {{0, 2}, {1, 3}});
  EXPECT_THAT(parts, HasSubstr("from \"a\", \"c\" there is no way to \"b\", \"d\""));
  EXPECT_THAT(refusal(world({1, 0}), {}), HasSubstr("cluster \"b\" has no gateway"));
  EXPECT_THAT(refusal(world({1, 1}), {{1, 1}}), HasSubstr("\"b\" to itself"));
  EXPECT_THAT(refusal(world({1, 1}), {{0, 2}}), HasSubstr("cluster number 2"));
}

TEST(Routes, OneClusterNeedsNone) {
  EXPECT_TRUE(compute_routes(world({0}), {}).conduits.empty());
  EXPECT_TRUE(compute_routes(world({2}), {}).conduits.empty());
}

}  // namespace
}  // namespace isthmus::core
