// Grids of any shape, with links that are slow, cut, silent and lost at any time, but one way to
// each cluster is left. Each frame arrives. Only frames sent again arrive twice. Memory is bounded
// (the testbed checks that in each step).
#include <gtest/gtest.h>

#include "core/router/router_testbed.hpp"

namespace isthmus::core {
namespace {

struct Shape {
  std::vector<int> sizes, gateways;
  const char* name;
};

class RandomGrids : public testing::TestWithParam<Shape> {
 protected:
  /// The shape, with streams and room by the seed.
  static Grid::Setup setup(std::uint64_t seed, double cut, std::uint64_t first = 0) {
    return {.sizes = GetParam().sizes,
            .gateways = GetParam().gateways,
            .streams = 1 + static_cast<int>(seed % 4),
            .room = std::size_t{64 * 1024} << seed % 5,
            .cut = cut,
            .seed = first + seed};
  }
};

// Sends somewhere, in bursts, most of it small.
void send_some(Grid& grid, int ranks) {
  const int from = static_cast<int>(grid.below(static_cast<std::size_t>(ranks)));
  const int to = static_cast<int>(grid.below(static_cast<std::size_t>(ranks)));
  const std::size_t size = grid.chance(0.5) ? 8 + grid.below(1000) : grid.below(64 * 1024);
  if (from != to) grid.send_many(1 + static_cast<int>(grid.below(20)), from, to, size);
}

void disturb(Grid& grid, int ranks) {
  const std::size_t link = grid.below(grid.links());
  const int rank = static_cast<int>(grid.below(static_cast<std::size_t>(ranks)));
  switch (grid.below(6)) {
    case 0:
      grid.cut(link);
      break;
    case 1:
      grid.silence(link, grid.chance(0.5));
      break;
    case 2:
      grid.set_rate(link, 1 + grid.below(64 * 1024));
      break;
    case 3:
      grid.stall(rank);
      break;
    default:
      grid.stall(rank, false);
  }
}

// Forty times, with less than `pause` milliseconds between.
void send_for_a_while(Grid& grid, std::size_t pause) {
  for (int i = 0; i < 40; ++i) {
    send_some(grid, grid.ranks());
    grid.run(std::chrono::milliseconds(grid.below(pause)));
  }
}

TEST_P(RandomGrids, WithoutLossesNothingComesBack) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Grid grid(setup(seed, 0.001));
    const int ranks = grid.ranks();
    for (int i = 0; i < 100; ++i) {
      send_some(grid, ranks);
      grid.run(std::chrono::milliseconds(grid.below(10)));
      if (grid.chance(0.2)) disturb(grid, ranks);
      // Shorter than the failover, with all that was before.
      if (i % 20 == 19) grid.calm();
    }
    grid.calm();
    ASSERT_TRUE(grid.settle(600s)) << "seed " << seed << ": " << grid.failure();
    EXPECT_EQ(grid.twice(), 0U) << "seed " << seed;
    for (int rank = 0; rank < ranks; ++rank) EXPECT_TRUE(grid.came_back(rank).empty());
  }
}

TEST_P(RandomGrids, WhileOneWayIsLeftAllArrives) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Grid grid(setup(seed, 0.0005, 100));
    const int ranks = grid.ranks();
    for (int i = 0; i < 40; ++i) {
      send_some(grid, ranks);
      grid.run(std::chrono::milliseconds(grid.below(10)));
      if (grid.chance(0.2)) disturb(grid, ranks);
    }
    grid.calm();
    if (grid.chance(0.5)) {
      grid.cut_for_good(0);
    } else {
      grid.silence(0);
    }
    send_for_a_while(grid, 600);
    ASSERT_TRUE(grid.settle(600s))
        << "seed " << seed << ": " << grid.failure() << ", " << grid.arrived() << " arrived";
    EXPECT_EQ(grid.failure(), "") << "seed " << seed;
  }
}

TEST_P(RandomGrids, AnyGatewayMayDieWhereAClusterHasOthers) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Grid grid(setup(seed, 0, 200));
    send_for_a_while(grid, 10);
    grid.kill_gateway(grid.spare_gateway());
    send_for_a_while(grid, 600);
    ASSERT_TRUE(grid.settle(600s))
        << "seed " << seed << ": " << grid.failure() << ", " << grid.arrived() << " arrived";
    EXPECT_EQ(grid.failure(), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RandomGrids,
                         testing::Values(Shape{{2, 2}, {2, 2}, "TwoByTwo"},
                                         Shape{{2, 2}, {1, 2}, "OneToTwo"},
                                         Shape{{1, 2}, {3, 2}, "ThreeToTwo"},
                                         Shape{{1, 1, 2}, {2, 2, 2}, "ThreeClusters"}),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace isthmus::core
