#include "coll/engine/ways.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "coll/bcast/bcast.hpp"
#include "coll/engine/choose.hpp"
#include "coll/patterns/cluster_runs.hpp"
#include "coll/reduce/reduce.hpp"
#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

const std::vector<std::string> kNames{"a", "b", "c", "d"};

/// a and b are 0.5 ms apart, both 20 ms from c.
Network two_near_one_far(const std::string& more = "") {
  return parse_network("wan-latency=20ms,wan-rate=1G,pair=a/b:500us:10G" + more, {}, kNames);
}

std::string complaint_of_pairs(const std::string& text) {
  try {
    parse_network(text, {}, kNames);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Pairs, AreReadFromText) {
  const Network network = parse_network(
      " pair = b/a : 2ms : 10G , pair=c/a::500M, pair=a/b:3ms, shared=a/c+b/c:1G", {}, kNames);
  ASSERT_NE(network.pairs, nullptr);
  const auto& ways = network.pairs->ways;
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_DOUBLE_EQ(ways[0].latency, 3e-3);  // the last entry
  EXPECT_DOUBLE_EQ(ways[0].bandwidth, 1.25e9);
  EXPECT_EQ(std::pair(ways[1].a, ways[1].b), std::pair(0, 2));
  EXPECT_DOUBLE_EQ(ways[1].latency, 0);
  ASSERT_EQ(network.pairs->shared.size(), 1U);
  EXPECT_EQ(network.pairs->shared[0].pairs, (std::vector<std::pair<int, int>>{{0, 2}, {1, 2}}));
  EXPECT_EQ(parse_network("wan-latency=2ms", {}, kNames).pairs, nullptr);
  // Clusters that have no part in the run.
  EXPECT_EQ(parse_network("pair=a/z:2ms,shared=z/y+a/x:1G", {}, kNames).pairs, nullptr);
}

TEST(Pairs, ComplaintsSayWhatIsAllowed) {
  EXPECT_NE(complaint_of_pairs("pair=a/a:1ms").find("name two clusters"), std::string::npos);
  for (const char* wrong : {"pair=a/b", "pair=a/b:", "pair=a/b:5", "pair=a/b:1ms:2",
                            "pair=a/b:-1ms", "pair=a/b:1ms:1G:7", "pair=", "pair=a:1ms"}) {
    EXPECT_NE(complaint_of_pairs(wrong), "") << wrong;
  }
  for (const char* wrong :
       {"shared=a/b", "shared=:1G", "shared=a/b+:0G", "shared=a+b:1G", "shared=a/b/c:1G"}) {
    EXPECT_NE(complaint_of_pairs(wrong), "") << wrong;
  }
}

TEST(Ways, AreThoseOfTheClustersThatAreThere) {
  const Network network = two_near_one_far();
  const Layout near(std::vector<int>{0, 0, 1, 1});
  const Ways of_near(near, network);
  EXPECT_FALSE(of_near.differ());
  EXPECT_DOUBLE_EQ(of_near.worst(-1).wan_latency, 500e-6);
  EXPECT_DOUBLE_EQ(of_near.worst(-1).wan_bandwidth, 1.25e9);
  const Layout all(std::vector<int>{2, 0, 1});  // layouts number clusters by first appearance
  const Ways of_all(all, network);
  EXPECT_TRUE(of_all.differ());
  EXPECT_DOUBLE_EQ(of_all.latency(1, 2), 500e-6);
  EXPECT_DOUBLE_EQ(of_all.worst(-1).wan_latency, 20e-3);
}

TEST(Ways, OfAStretchThatPairsShareEachHasAPart) {
  const Network network = two_near_one_far(",shared=a/c+b/c:500M");
  const Layout layout(std::vector<int>{0, 1, 2});
  const Ways ways(layout, network);
  EXPECT_DOUBLE_EQ(ways.worst(-1).wan_bandwidth, 62.5e6 / 2);
  EXPECT_DOUBLE_EQ(ways.worst(2).wan_bandwidth, 62.5e6 / 2);  // to a and to b
  EXPECT_DOUBLE_EQ(ways.worst(0).wan_bandwidth, 62.5e6);      // to c alone
  const Layout two(std::vector<int>{0, 2});
  EXPECT_DOUBLE_EQ(Ways(two, network).worst(-1).wan_bandwidth, 62.5e6);
}

TEST(Trees, CrossWhatIsFarOnce) {
  const Layout layout(std::vector<int>{0, 1, 2});
  const Network network = two_near_one_far();
  const Ways ways(layout, network);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 16}) {
    const ClusterTree from_far(ways, 2, bytes);
    EXPECT_EQ(from_far.parent(0), 2);
    EXPECT_EQ(from_far.parent(1), 0);
    EXPECT_EQ(from_far.depth(1), 2);
    EXPECT_TRUE(ClusterTree(ways, 0, bytes).is_star());
    const ClusterGroups groups(ways, bytes);
    EXPECT_EQ(groups.head(1), 0);
    EXPECT_EQ(groups.all_heads(), (std::vector<int>{0, 2}));
  }
}

TEST(Trees, WhereWaysAreAlikeAllHaveItFromTheRoot) {
  const Layout layout(std::vector<int>{0, 1, 2, 3});
  for (const Network& network : {Network{}, parse_network("pair=a/b:4ms", {}, kNames)}) {
    const Ways ways(layout, network);
    for (int root = 0; root < 4; ++root) {
      EXPECT_TRUE(ClusterTree(ways, root, 1 << 20).is_star()) << root;
    }
    EXPECT_TRUE(ClusterGroups(ways, 0).trivial());
  }
}

TEST(Trees, OfAnyNetworkReachAllAndNeverMuchLaterThanStraight) {
  const Layout layout(std::vector<int>{0, 1, 2, 3});
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Network network = network_for(seed);
    const Ways ways(layout, network);
    for (int root = 0; root < 4; ++root) {
      const ClusterTree tree(ways, root, 0);
      EXPECT_EQ(tree.below(root).size(), 4U);
      for (int c = 0; c < 4; ++c) {
        double arrival = 0;
        for (int at = c; at != root; at = tree.parent(at)) {
          arrival += ways.latency(at, tree.parent(at));
        }
        EXPECT_LE(arrival, 1.1 * ways.latency(root, c) * (c == root ? 1 : 1.0001)) << seed;
      }
      EXPECT_LE(tree.length(), ClusterTree::star(ways, root, 0).length()) << seed;
    }
  }
}

TEST(Runs, AreCombinedAsFarAsOrderAllows) {
  EXPECT_EQ(runs_of({3, 0, 1}, false), (std::vector<ClusterRun>{{0, 1}, {3, 3}}));
  EXPECT_EQ(runs_of({3, 0, 1}, true), (std::vector<ClusterRun>{{0, 3}}));
  EXPECT_TRUE(runs_of({}, false).empty());
}

/// Clusters of three ranks: the bytes of a broadcast and a reduction between a or b and c.
std::size_t far_bytes(Kind kind, const char* name, int root, std::size_t size) {
  MemoryGrid grid(Shape{0, 0, 0, 1, 1, 1, 2, 2, 2}, 7);
  grid.network = two_near_one_far();
  std::vector<Data> in(9, Data(size)), out(9, Data(size));
  TestReduction<Sum> reduction;
  const Algorithm& row = *find_algorithm(kind, name);
  grid.run([&](Party& party) {
    const std::size_t r = as_index(party.rank());
    if (kind == Kind::Bcast) return std::get<RunBcast>(row.run)(party, in[r], root, {});
    return std::get<RunReduce>(row.run)(party, in[r], out[r], size / sizeof(Sum), reduction, root,
                                        {});
  });
  return grid.bytes_between(0, 2) + grid.bytes_between(2, 0) + grid.bytes_between(1, 2) +
         grid.bytes_between(2, 1);
}

TEST(FarWays, AreCrossedOnce) {
  constexpr std::size_t kSize = 4000;
  for (const Kind kind : {Kind::Bcast, Kind::Reduce}) {
    EXPECT_EQ(far_bytes(kind, "magpie", 8, kSize), 2 * kSize) << name_of(kind);
    EXPECT_EQ(far_bytes(kind, "tree", 8, kSize), kSize) << name_of(kind);
    EXPECT_EQ(far_bytes(kind, "tree", 0, kSize), kSize) << name_of(kind);
  }
}

/// The same of an allgather, a rank's block having `size` bytes.
std::size_t far_bytes_of_allgather(const char* name, std::size_t size) {
  MemoryGrid grid(Shape{0, 0, 0, 1, 1, 1, 2, 2, 2}, 7);
  grid.network = two_near_one_far();
  std::vector<Data> in(9, Data(size)), out(9, Data(9 * size));
  const Algorithm& row = *find_algorithm(Kind::Allgather, name);
  grid.run([&](Party& party) {
    const std::size_t r = as_index(party.rank());
    return std::get<RunAllgather>(row.run)(party, in[r], out[r], Sizes(9, size), {});
  });
  return grid.bytes_between(0, 2) + grid.bytes_between(2, 0) + grid.bytes_between(1, 2) +
         grid.bytes_between(2, 1);
}

TEST(FarWays, BlocksCrossThemOnce) {
  constexpr std::size_t kSize = 400;
  EXPECT_EQ(far_bytes_of_allgather("magpie", kSize), 12 * kSize);
  EXPECT_EQ(far_bytes_of_allgather("tree", kSize), 9 * kSize);
}

TEST(FarWays, TreesAreChosenWhereWaysDiffer) {
  const Layout layout(Shape{0, 0, 0, 1, 1, 1, 2, 2, 2});
  const Network far = two_near_one_far();
  for (const Kind kind : {Kind::Bcast, Kind::Reduce}) {
    const auto chosen = [&](const Network& network, int home) {
      return choose({layout, network, {kind, 4000, true, home}}, {}).algorithm->name;
    };
    // Stripes go along the tree, too, and chains from each cluster to the nearest.
    const std::string_view name = chosen(far, 2);
    EXPECT_TRUE(name == "tree" || name == "striped" || name == "chained")
        << name_of(kind) << " " << name;
    EXPECT_NE(chosen(far, 0), "tree") << name_of(kind);  // the star crosses it once, too
    EXPECT_NE(chosen(Network{}, 2), "tree") << name_of(kind);
  }
}

TEST(FarWays, ShortBlocksGoAlongTreesAndLongOnesStraight) {
  const Layout layout(Shape{0, 0, 0, 1, 1, 1, 2, 2, 2});
  const auto chosen = [&](const Network& network, std::size_t bytes) {
    return choose({layout, network, {Kind::Allgather, bytes, true, -1}}, {}).algorithm->name;
  };
  EXPECT_EQ(chosen(two_near_one_far(), 36'000), "tree");
  EXPECT_EQ(chosen(two_near_one_far(), 9'000'000), "intervals");
  EXPECT_NE(chosen(Network{}, 36'000), "tree");
}

}  // namespace
}  // namespace isthmus::coll
