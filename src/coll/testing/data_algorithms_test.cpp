// Single algorithms that move data, on a grid in memory: every shape, checked against MPI's rules,
// and the bytes that cross between clusters.
#include <gtest/gtest.h>

#include "coll/allgather/allgather.hpp"
#include "coll/alltoall/alltoall.hpp"
#include "coll/barrier/barrier.hpp"
#include "coll/gather/gather.hpp"
#include "coll/scatter/scatter.hpp"
#include "coll/testing/checks.hpp"

namespace isthmus::coll {
namespace {

/// The bytes of ranks outside of `cluster`.
std::size_t bytes_outside(const Layout& layout, int cluster, const Sizes& sizes) {
  std::size_t sum = 0;
  for (int r = 0; r < layout.size(); ++r) {
    if (layout.cluster_of(r) != cluster) sum += sizes[as_index(r)];
  }
  return sum;
}

void check_gather_direct(const Shape& shape, std::uint64_t seed, int root, const Sizes& sizes) {
  MemoryGrid grid(shape, seed);
  expect_gather(grid, root, sizes, false, with_defaults(gather_direct));
  EXPECT_EQ(grid.bytes_crossed(),
            bytes_outside(grid.layout(), grid.layout().cluster_of(root), sizes));
}

void check_scatter_direct(const Shape& shape, std::uint64_t seed, int root, const Sizes& sizes) {
  MemoryGrid grid(shape, seed);
  expect_scatter(grid, root, sizes, false, with_defaults(scatter_direct));
  EXPECT_EQ(grid.bytes_crossed(),
            bytes_outside(grid.layout(), grid.layout().cluster_of(root), sizes));
}

void check_allgather(RunAllgather algorithm, const Shape& shape, std::uint64_t seed,
                     const Sizes& sizes) {
  MemoryGrid grid(shape, seed);
  grid.network = network_for(seed);
  expect_allgather(grid, sizes, with_defaults(algorithm));
  EXPECT_LE(grid.depth(), algorithm == &allgather_tree ? 3 : 1);
  if (algorithm != &allgather_intervals && algorithm != &allgather_tree) return;
  // Every byte crosses once to each other cluster.
  EXPECT_EQ(grid.bytes_crossed(),
            concatenated(sizes, 0).size() * (as_index(grid.layout().clusters()) - 1));
}

/// Messages from each leader to all ranks of other clusters.
int fanned(const Shape& shape) {
  const Layout layout(shape);
  return (layout.clusters() - 1) * layout.size();
}

int pairs_of_clusters(const Layout& layout) { return layout.clusters() * (layout.clusters() - 1); }

void check_alltoall(RunAlltoall algorithm, const Shape& shape, std::uint64_t seed, std::size_t base,
                    bool uneven) {
  MemoryGrid grid(shape, seed);
  expect_alltoall(grid, base, uneven, with_defaults(algorithm));
  std::size_t crossing = 0;
  for (std::size_t r = 0; r < shape.size(); ++r) {
    for (std::size_t s = 0; s < shape.size(); ++s) {
      if (shape[r] != shape[s]) crossing += uneven ? base * ((r * 3 + s) % 4) : base;
    }
  }
  EXPECT_EQ(grid.bytes_crossed(), crossing);
  if (algorithm == &alltoall_fan) {
    EXPECT_EQ(grid.crossings(), base > 0 ? fanned(shape) : 0);
  }
  if (algorithm == &alltoall_combined) {
    EXPECT_EQ(grid.crossings(), base > 0 ? pairs_of_clusters(grid.layout()) : 0);
  }
}

void check_barrier(RunBarrier algorithm, const Shape& shape, std::uint64_t seed) {
  MemoryGrid grid(shape, seed);
  grid.network = network_for(seed);
  expect_barrier(grid, with_defaults(algorithm));
  EXPECT_LE(grid.depth(), algorithm == &barrier_tree ? 3 : 1);
}

void check_rooted(const Shape& shape, std::uint64_t& seed, int root, const Sizes& sizes) {
  check_gather_direct(shape, ++seed, root, sizes);
  check_scatter_direct(shape, ++seed, root, sizes);
}

void check_allgathers(const Shape& shape, std::uint64_t& seed, const Sizes& sizes) {
  for (const RunAllgather algorithm :
       {allgather_counterparts, allgather_fan, allgather_tree, allgather_intervals}) {
    check_allgather(algorithm, shape, ++seed, sizes);
  }
}

void check_alltoalls(const Shape& shape, std::uint64_t& seed, std::size_t base, bool uneven) {
  check_alltoall(alltoall_direct, shape, ++seed, base, uneven);
  check_alltoall(alltoall_combined, shape, ++seed, base, false);
  check_alltoall(alltoall_fan, shape, ++seed, base, false);
}

void check_barriers(const Shape& shape, std::uint64_t& seed) {
  for (const RunBarrier algorithm : {barrier_counterparts, barrier_fan, barrier_tree}) {
    check_barrier(algorithm, shape, ++seed);
  }
}

class DataAlgorithmsByShape : public testing::TestWithParam<std::size_t> {};

TEST_P(DataAlgorithmsByShape, EveryShape) {
  std::uint64_t seed = 1000 * GetParam();
  const auto shapes = all_shapes(3);
  for (std::size_t i = GetParam(); i < shapes.size(); i += kParts) {
    const Shape& shape = shapes[i];
    SCOPED_TRACE(name_of(shape));
    const int root = static_cast<int>(seed % shape.size());
    const bool uneven = seed % 2 == 0;
    const Sizes sizes = sizes_for(shape.size(), 1 + seed % 7, uneven);
    check_barriers(shape, seed);
    check_rooted(shape, seed, root, sizes);
    check_allgathers(shape, seed, sizes);
    check_alltoalls(shape, seed, 3, uneven);
    ++seed;  // with those, a number of seeds prime to 4 and 7: each algorithm meets all networks
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, DataAlgorithmsByShape, testing::Range(std::size_t{0}, kParts));

TEST(DataAlgorithms, EveryRootAndSize) {
  std::uint64_t seed = 1'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const std::size_t base : {0U, 1U, 300U}) {
      for (const bool uneven : {false, true}) {
        const Sizes sizes = sizes_for(shape.size(), base, uneven);
        for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
          SCOPED_TRACE(root);
          check_rooted(shape, seed, root, sizes);
        }
        check_allgathers(shape, seed, sizes);
        check_alltoalls(shape, seed, base, uneven);
      }
    }
    Sizes lone(shape.size(), 0);  // one rank holds everything
    lone.back() = 1000;
    check_allgathers(shape, seed, lone);
    if (HasFailure()) return;
  }
}

TEST(DataAlgorithms, ManyOrdersOfEvents) {
  const Shape shape{0, 1, 0, 2, 1, 0, 2};
  const Sizes sizes = sizes_for(shape.size(), 4, true);
  for (std::uint64_t seed = 2'000'000; seed < 2'003'900;) {
    SCOPED_TRACE(seed);
    const int root = static_cast<int>(seed % shape.size());
    check_barriers(shape, seed);
    check_rooted(shape, seed, root, sizes);
    check_allgathers(shape, seed, sizes);
    check_alltoalls(shape, seed, 5, true);
    ++seed;  // as above
    if (HasFailure()) return;
  }
}

TEST(DataAlgorithms, MoreReceiversThanMayBeUnderWay) {
  Shape shape(3, 0);
  shape.insert(shape.end(), 150, 1);
  check_scatter_direct(shape, 1, 2, sizes_for(shape.size(), 3, true));
  check_gather_direct(shape, 2, 2, sizes_for(shape.size(), 3, true));
  check_alltoall(alltoall_direct, shape, 3, 2, true);
}

TEST(DataAlgorithms, LongBlocks) {
  const Shape shape{0, 0, 0, 1, 1, 1, 1};
  // On both sides of the sizes at which messages are cut and members called.
  const std::vector<Sizes> mixes{{300'000, 0, 33'000, 262'144, 262'145, 16'385, 1},
                                 Sizes(shape.size(), 65'536)};
  std::uint64_t seed = 3'000'000;
  for (const Sizes& sizes : mixes) {
    for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
      check_rooted(shape, seed, root, sizes);
    }
    check_allgather(allgather_intervals, shape, ++seed, sizes);
  }
  // In a large cluster the longest of them are not cut.
  Shape large(150, 0);
  large.push_back(1);
  Sizes sizes(large.size(), 0);
  sizes[3] = sizes[150] = 300'000;
  sizes[149] = 262'144;
  check_scatter_direct(large, ++seed, 1, sizes);
  check_gather_direct(large, ++seed, 1, sizes);
  for (const std::size_t base : {40'000U, 100'000U}) {
    check_alltoall(alltoall_direct, shape, ++seed, base, false);
    check_alltoall(alltoall_direct, shape, ++seed, base, true);
  }
}

}  // namespace
}  // namespace isthmus::coll
