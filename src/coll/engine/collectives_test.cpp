// The collectives that move data, on a grid in memory: every shape, against what MPI promises.
#include <gtest/gtest.h>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

/// One crossing per direction: no message between clusters may depend on another one.
void expect_one_crossing(const MemoryGrid& grid) {
  EXPECT_LE(grid.depth(), 1);
  EXPECT_EQ(grid.layout().clusters() > 1, grid.crossings() > 0);
}

void check_bcast(const Shape& shape, std::uint64_t seed, int root, std::size_t size) {
  MemoryGrid grid(shape, seed);
  PerRank data(shape.size(), Data(size));
  data[as_index(root)] = pattern(size, root, 0);
  grid.run([&](Party& party) { return bcast(party, data[as_index(party.rank())], root); });
  for (const Data& got : data) EXPECT_EQ(got, pattern(size, root, 0));
  if (size > 0) expect_one_crossing(grid);
}

void check_gather(const Shape& shape, std::uint64_t seed, int root, const Sizes& sizes,
                  bool sizes_everywhere) {
  MemoryGrid grid(shape, seed);
  PerRank mine;
  for (std::size_t r = 0; r < shape.size(); ++r) {
    mine.push_back(pattern(sizes[r], static_cast<int>(r), 0));
  }
  const Data want = concatenated(sizes, 0);
  Data all(want.size());
  grid.run([&](Party& party) {
    const bool is_root = party.rank() == root;
    return gather(party, mine[as_index(party.rank())], is_root ? Bytes(all) : Bytes{},
                  is_root || sizes_everywhere ? sizes : Sizes{}, root);
  });
  EXPECT_EQ(all, want);
  EXPECT_LE(grid.depth(), 1);
}

void check_scatter(const Shape& shape, std::uint64_t seed, int root, const Sizes& sizes,
                   bool sizes_everywhere) {
  MemoryGrid grid(shape, seed);
  const Data all = concatenated(sizes, 0);
  PerRank mine;
  for (const std::size_t size : sizes) mine.emplace_back(size);
  grid.run([&](Party& party) {
    const bool is_root = party.rank() == root;
    return scatter(party, is_root ? ConstBytes(all) : ConstBytes{},
                   is_root || sizes_everywhere ? sizes : Sizes{}, mine[as_index(party.rank())],
                   root);
  });
  for (std::size_t r = 0; r < shape.size(); ++r) {
    EXPECT_EQ(mine[r], pattern(sizes[r], static_cast<int>(r), 0)) << "rank " << r;
  }
  EXPECT_LE(grid.depth(), 1);
}

void check_allgather(const Shape& shape, std::uint64_t seed, const Sizes& sizes) {
  MemoryGrid grid(shape, seed);
  const Data want = concatenated(sizes, 0);
  PerRank mine, all(shape.size(), Data(want.size()));
  for (std::size_t r = 0; r < shape.size(); ++r) {
    mine.push_back(pattern(sizes[r], static_cast<int>(r), 0));
  }
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return allgather(party, mine[r], all[r], sizes);
  });
  for (const Data& got : all) EXPECT_EQ(got, want);
  EXPECT_LE(grid.depth(), 1);
}

void check_alltoall(const Shape& shape, std::uint64_t seed, std::size_t base, bool uneven) {
  MemoryGrid grid(shape, seed);
  const std::size_t ranks = shape.size();
  const auto size_of = [&](std::size_t from, std::size_t to) {
    return uneven ? base * ((from * 3 + to) % 4) : base;
  };
  std::vector<Sizes> out_sizes(ranks), in_sizes(ranks);
  PerRank out(ranks), in, want(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t s = 0; s < ranks; ++s) {
      out_sizes[r].push_back(size_of(r, s));
      in_sizes[r].push_back(size_of(s, r));
      const Data to = pattern(size_of(r, s), static_cast<int>(r), static_cast<int>(s));
      const Data from = pattern(size_of(s, r), static_cast<int>(s), static_cast<int>(r));
      out[r].insert(out[r].end(), to.begin(), to.end());
      want[r].insert(want[r].end(), from.begin(), from.end());
    }
    in.emplace_back(want[r].size());
  }
  grid.run([&](Party& party) {
    const auto r = as_index(party.rank());
    return alltoall(party, out[r], out_sizes[r], in[r], in_sizes[r]);
  });
  EXPECT_EQ(in, want);
  EXPECT_LE(grid.depth(), 1);
}

void check_barrier(const Shape& shape, std::uint64_t seed) {
  MemoryGrid grid(shape, seed);
  std::size_t arrived = 0;
  bool early = false;
  grid.run([&](Party& party) -> Task {
    ++arrived;
    co_await barrier(party);
    if (arrived != shape.size()) early = true;
  });
  EXPECT_FALSE(early);
  expect_one_crossing(grid);
}

constexpr std::size_t kParts = 8;  // so that no test takes long under a sanitizer

class CollectivesByShape : public testing::TestWithParam<std::size_t> {};

TEST_P(CollectivesByShape, EveryShape) {
  std::uint64_t seed = 1000 * GetParam();
  const auto shapes = all_shapes(4);
  for (std::size_t i = GetParam(); i < shapes.size(); i += kParts) {
    const Shape& shape = shapes[i];
    SCOPED_TRACE(name_of(shape));
    const int root = static_cast<int>(seed % shape.size());
    const bool uneven = seed % 2 == 0;
    const Sizes sizes = sizes_for(shape.size(), 1 + seed % 7, uneven);
    check_barrier(shape, ++seed);
    check_bcast(shape, ++seed, root, 5);
    check_gather(shape, ++seed, root, sizes, !uneven);
    check_scatter(shape, ++seed, root, sizes, !uneven);
    check_allgather(shape, ++seed, sizes);
    check_alltoall(shape, ++seed, 3, uneven);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, CollectivesByShape, testing::Range(std::size_t{0}, kParts));

TEST(Collectives, EveryRootAndSize) {
  std::uint64_t seed = 1'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const std::size_t base : {0U, 1U, 300U}) {
      for (const bool uneven : {false, true}) {
        const Sizes sizes = sizes_for(shape.size(), base, uneven);
        for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
          SCOPED_TRACE(root);
          if (!uneven) check_bcast(shape, ++seed, root, base);
          check_gather(shape, ++seed, root, sizes, !uneven);
          check_scatter(shape, ++seed, root, sizes, !uneven);
        }
        check_allgather(shape, ++seed, sizes);
        check_alltoall(shape, ++seed, base, uneven);
      }
    }
    if (HasFailure()) return;
  }
}

TEST(Collectives, ManyOrdersOfEvents) {
  const Shape shape{0, 1, 0, 2, 1, 0, 2};
  for (std::uint64_t seed = 2'000'000; seed < 2'000'300; ++seed) {
    SCOPED_TRACE(seed);
    const Sizes sizes = sizes_for(shape.size(), 4, true);
    const int root = static_cast<int>(seed % shape.size());
    check_barrier(shape, seed);
    check_bcast(shape, seed, root, 9);
    check_gather(shape, seed, root, sizes, false);
    check_scatter(shape, seed, root, sizes, false);
    check_allgather(shape, seed, sizes);
    check_alltoall(shape, seed, 5, true);
    if (HasFailure()) return;
  }
}

TEST(MemoryGrid, FindsADeadlock) {
  MemoryGrid grid(Shape{0, 1}, 1);
  std::byte byte{};
  EXPECT_THROW(grid.run([&](Party& party) -> Task {
    Pending p = party.recv(1 - party.rank(), 0, Bytes(&byte, 1));
    co_await p;
  }),
               std::logic_error);
}

TEST(MemoryGrid, FindsMembersThatDisagree) {
  MemoryGrid grid(Shape{0, 0}, 1);
  EXPECT_THROW(grid.run([&](Party& party) -> Task {
    Pending p = party.rank() == 0 ? party.local_barrier() : party.local_bcast({}, 0);
    co_await p;
  }),
               std::logic_error);
}

TEST(MemoryGrid, FindsAMessageThatNobodyReceives) {
  MemoryGrid grid(Shape{0, 1}, 3);
  const std::byte byte{};
  std::vector<Pending> kept;
  EXPECT_THROW(grid.run([&](Party& party) -> Task {
    if (party.rank() == 0) kept.push_back(party.send(1, 0, ConstBytes(&byte, 1)));
    co_return;
  }),
               std::logic_error);
}

TEST(MemoryGrid, CountsChainsOfCrossings) {
  MemoryGrid grid(Shape{0, 1}, 3);
  std::byte byte{};
  grid.run([&](Party& party) -> Task {
    const int other = 1 - party.rank();
    for (int turn = 0; turn < 4; ++turn) {
      Pending p = turn % 2 == party.rank() ? party.send(other, 0, ConstBytes(&byte, 1))
                                           : party.recv(other, 0, Bytes(&byte, 1));
      co_await p;
    }
  });
  EXPECT_EQ(grid.depth(), 4);
  EXPECT_EQ(grid.crossings(), 4);
}

}  // namespace
}  // namespace isthmus::coll
