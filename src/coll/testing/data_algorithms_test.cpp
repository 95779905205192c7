// Single algorithms that move data, on a grid in memory: every shape, checked against MPI's rules,
// and the bytes that cross between clusters.
#include <gtest/gtest.h>

#include "coll/allgather/allgather.hpp"
#include "coll/alltoall/alltoall.hpp"
#include "coll/barrier/barrier.hpp"
#include "coll/engine/algorithm.hpp"
#include "coll/gather/gather.hpp"
#include "coll/scatter/scatter.hpp"
#include "coll/testing/testing.hpp"

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
  PerRank mine;
  for (std::size_t r = 0; r < shape.size(); ++r) {
    mine.push_back(pattern(sizes[r], static_cast<int>(r), 0));
  }
  const Data want = concatenated(sizes, 0);
  Data all(want.size());
  grid.run([&](Party& party) {
    const bool is_root = party.rank() == root;
    return gather_direct(party, mine[as_index(party.rank())], is_root ? Bytes(all) : Bytes{},
                         is_root ? sizes : Sizes{}, root, {});
  });
  EXPECT_EQ(all, want);
  EXPECT_LE(grid.depth(), 1);
  EXPECT_EQ(grid.bytes_crossed(),
            bytes_outside(grid.layout(), grid.layout().cluster_of(root), sizes));
}

void check_scatter_direct(const Shape& shape, std::uint64_t seed, int root, const Sizes& sizes) {
  MemoryGrid grid(shape, seed);
  const Data all = concatenated(sizes, 0);
  PerRank mine;
  for (const std::size_t size : sizes) mine.emplace_back(size);
  grid.run([&](Party& party) {
    const bool is_root = party.rank() == root;
    return scatter_direct(party, is_root ? ConstBytes(all) : ConstBytes{},
                          is_root ? sizes : Sizes{}, mine[as_index(party.rank())], root, {});
  });
  for (std::size_t r = 0; r < shape.size(); ++r) {
    EXPECT_EQ(mine[r], pattern(sizes[r], static_cast<int>(r), 0)) << "rank " << r;
  }
  EXPECT_LE(grid.depth(), 1);
  EXPECT_EQ(grid.bytes_crossed(),
            bytes_outside(grid.layout(), grid.layout().cluster_of(root), sizes));
}

void check_allgather(RunAllgather algorithm, const Shape& shape, std::uint64_t seed,
                     const Sizes& sizes) {
  MemoryGrid grid(shape, seed);
  grid.network = network_for(seed);
  const Data want = concatenated(sizes, 0);
  PerRank mine, all(shape.size(), Data(want.size()));
  for (std::size_t r = 0; r < shape.size(); ++r) {
    mine.push_back(pattern(sizes[r], static_cast<int>(r), 0));
  }
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return algorithm(party, mine[r], all[r], sizes, Parameters{});
  });
  for (const Data& got : all) EXPECT_EQ(got, want);
  EXPECT_LE(grid.depth(), algorithm == &allgather_tree ? 3 : 1);
  if (algorithm != &allgather_intervals && algorithm != &allgather_tree) return;
  // Every byte crosses once to each other cluster.
  EXPECT_EQ(grid.bytes_crossed(), want.size() * (as_index(grid.layout().clusters()) - 1));
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
  const std::size_t ranks = shape.size();
  const auto size_of = [&](std::size_t from, std::size_t to) {
    return uneven ? base * ((from * 3 + to) % 4) : base;
  };
  std::vector<Sizes> out_sizes(ranks), in_sizes(ranks);
  PerRank out(ranks), in, want(ranks);
  std::size_t crossing = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t s = 0; s < ranks; ++s) {
      out_sizes[r].push_back(size_of(r, s));
      in_sizes[r].push_back(size_of(s, r));
      if (shape[r] != shape[s]) crossing += size_of(r, s);
      const Data to = pattern(size_of(r, s), static_cast<int>(r), static_cast<int>(s));
      const Data from = pattern(size_of(s, r), static_cast<int>(s), static_cast<int>(r));
      out[r].insert(out[r].end(), to.begin(), to.end());
      want[r].insert(want[r].end(), from.begin(), from.end());
    }
    in.emplace_back(want[r].size());
  }
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return algorithm(party, out[r], out_sizes[r], in[r], in_sizes[r], Parameters{});
  });
  EXPECT_EQ(in, want);
  EXPECT_LE(grid.depth(), 1);
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
  std::size_t arrived = 0;
  bool early = false;
  grid.run([&](Party& party) -> Task {
    ++arrived;
    co_await algorithm(party, {});
    if (arrived != shape.size()) early = true;
  });
  EXPECT_FALSE(early);
  EXPECT_LE(grid.depth(), algorithm == &barrier_tree ? 3 : 1);
}

constexpr std::size_t kDataParts = 8;  // so that no test takes long under a sanitizer

class DataAlgorithmsByShape : public testing::TestWithParam<std::size_t> {};

TEST_P(DataAlgorithmsByShape, EveryShape) {
  std::uint64_t seed = 1000 * GetParam();
  const auto shapes = all_shapes(3);
  for (std::size_t i = GetParam(); i < shapes.size(); i += kDataParts) {
    const Shape& shape = shapes[i];
    SCOPED_TRACE(name_of(shape));
    const int root = static_cast<int>(seed % shape.size());
    const bool uneven = seed % 2 == 0;
    const Sizes sizes = sizes_for(shape.size(), 1 + seed % 7, uneven);
    check_barrier(barrier_counterparts, shape, ++seed);
    check_barrier(barrier_fan, shape, ++seed);
    check_barrier(barrier_tree, shape, ++seed);
    check_gather_direct(shape, ++seed, root, sizes);
    check_scatter_direct(shape, ++seed, root, sizes);
    check_allgather(allgather_counterparts, shape, ++seed, sizes);
    check_allgather(allgather_fan, shape, ++seed, sizes);
    check_allgather(allgather_tree, shape, ++seed, sizes);
    check_allgather(allgather_intervals, shape, ++seed, sizes);
    check_alltoall(alltoall_direct, shape, ++seed, 3, uneven);
    check_alltoall(alltoall_combined, shape, ++seed, 3, false);
    check_alltoall(alltoall_fan, shape, ++seed, 3, false);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, DataAlgorithmsByShape, testing::Range(std::size_t{0}, kDataParts));

TEST(DataAlgorithms, EveryRootAndSize) {
  std::uint64_t seed = 1'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const std::size_t base : {0U, 1U, 300U}) {
      for (const bool uneven : {false, true}) {
        const Sizes sizes = sizes_for(shape.size(), base, uneven);
        for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
          SCOPED_TRACE(root);
          check_gather_direct(shape, ++seed, root, sizes);
          check_scatter_direct(shape, ++seed, root, sizes);
        }
        check_allgather(allgather_counterparts, shape, ++seed, sizes);
        check_allgather(allgather_fan, shape, ++seed, sizes);
        check_allgather(allgather_tree, shape, ++seed, sizes);
        check_allgather(allgather_intervals, shape, ++seed, sizes);
        check_alltoall(alltoall_direct, shape, ++seed, base, uneven);
        if (!uneven) check_alltoall(alltoall_combined, shape, ++seed, base, false);
        if (!uneven) check_alltoall(alltoall_fan, shape, ++seed, base, false);
      }
    }
    // One rank holds everything.
    Sizes lone(shape.size(), 0);
    lone.back() = 1000;
    check_allgather(allgather_counterparts, shape, ++seed, lone);
    check_allgather(allgather_fan, shape, ++seed, lone);
    check_allgather(allgather_tree, shape, ++seed, lone);
    check_allgather(allgather_intervals, shape, ++seed, lone);
    if (HasFailure()) return;
  }
}

TEST(DataAlgorithms, ManyOrdersOfEvents) {
  const Shape shape{0, 1, 0, 2, 1, 0, 2};
  for (std::uint64_t seed = 2'000'000; seed < 2'000'300; ++seed) {
    SCOPED_TRACE(seed);
    const Sizes sizes = sizes_for(shape.size(), 4, true);
    const int root = static_cast<int>(seed % shape.size());
    check_barrier(barrier_counterparts, shape, seed);
    check_barrier(barrier_fan, shape, seed);
    check_barrier(barrier_tree, shape, seed);
    check_gather_direct(shape, seed, root, sizes);
    check_scatter_direct(shape, seed, root, sizes);
    check_allgather(allgather_counterparts, shape, seed, sizes);
    check_allgather(allgather_fan, shape, seed, sizes);
    check_allgather(allgather_tree, shape, seed, sizes);
    check_allgather(allgather_intervals, shape, seed, sizes);
    check_alltoall(alltoall_direct, shape, seed, 5, true);
    check_alltoall(alltoall_combined, shape, seed, 5, false);
    check_alltoall(alltoall_fan, shape, seed, 5, false);
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
      check_gather_direct(shape, ++seed, root, sizes);
      check_scatter_direct(shape, ++seed, root, sizes);
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
