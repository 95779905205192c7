// Messages along the edges of random graphs, on a grid in memory.
#include <gtest/gtest.h>

#include <random>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

struct Edge {
  int from, to;
  std::size_t size;
};

/// Edges of all kinds: several between the same ranks, to themselves, empty ones.
std::vector<Edge> random_edges(int ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  std::vector<Edge> edges;
  for (int i = below(4 * ranks); i > 0; --i) {
    edges.push_back({below(ranks), below(ranks), static_cast<std::size_t>(below(3)) * 40});
  }
  return edges;
}

void check(const Shape& shape, std::uint64_t seed) {
  MemoryGrid grid(shape, seed);
  const int ranks = static_cast<int>(shape.size());
  const std::vector<Edge> edges = random_edges(ranks, seed);
  PerRank sent, received;
  std::size_t crossing = 0;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    sent.push_back(pattern(edges[e].size, static_cast<int>(e), 0));
    received.emplace_back(edges[e].size);
    const Layout& layout = grid.layout();
    if (layout.cluster_of(edges[e].from) != layout.cluster_of(edges[e].to)) {
      crossing += edges[e].size;
    }
  }
  grid.run([&](Party& party) {
    std::vector<OutEdge> out;
    std::vector<InEdge> in;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (edges[e].from == party.rank()) out.push_back({edges[e].to, sent[e]});
      if (edges[e].to == party.rank()) in.push_back({edges[e].from, received[e]});
    }
    return neighbors(party, std::move(out), std::move(in));
  });
  EXPECT_EQ(received, sent);
  EXPECT_EQ(grid.bytes_crossed(), crossing);
  EXPECT_LE(grid.depth(), 1);
}

TEST(Neighbors, EveryEdgeCarriesItsMessage) {
  for (const Shape& shape : all_shapes(3)) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(name_of(shape) + " seed " + std::to_string(seed));
      check(shape, seed);
    }
  }
}

}  // namespace
}  // namespace isthmus::coll
