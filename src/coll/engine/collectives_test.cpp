// The collectives that move data, on a grid in memory: every shape, against what MPI promises.
#include <gtest/gtest.h>

#include "coll/testing/checks.hpp"

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

void check_rooted(const Shape& shape, std::uint64_t& seed, int root, const Sizes& sizes,
                  bool everywhere) {
  MemoryGrid gathering(shape, ++seed), scattering(shape, ++seed);
  expect_gather(gathering, root, sizes, everywhere, [](auto&&... all) { return gather(all...); });
  expect_scatter(scattering, root, sizes, everywhere,
                 [](auto&&... all) { return scatter(all...); });
}

void check_unrooted(const Shape& shape, std::uint64_t& seed, const Sizes& sizes, std::size_t base,
                    bool uneven) {
  MemoryGrid gathering(shape, ++seed), exchanging(shape, ++seed);
  expect_allgather(gathering, sizes, allgather);
  EXPECT_LE(gathering.depth(), 1);
  expect_alltoall(exchanging, base, uneven, [](auto&&... all) { return alltoall(all...); });
}

void check_barrier(const Shape& shape, std::uint64_t seed) {
  MemoryGrid grid(shape, seed);
  expect_barrier(grid, barrier);
  expect_one_crossing(grid);
}

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
    check_rooted(shape, seed, root, sizes, !uneven);
    check_unrooted(shape, seed, sizes, 3, uneven);
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
          check_rooted(shape, seed, root, sizes, !uneven);
        }
        check_unrooted(shape, seed, sizes, base, uneven);
      }
    }
    if (HasFailure()) return;
  }
}

TEST(Collectives, ManyOrdersOfEvents) {
  const Shape shape{0, 1, 0, 2, 1, 0, 2};
  const Sizes sizes = sizes_for(shape.size(), 4, true);
  for (std::uint64_t seed = 2'000'000; seed < 2'001'800;) {
    SCOPED_TRACE(seed);
    const int root = static_cast<int>(seed % shape.size());
    check_barrier(shape, ++seed);
    check_bcast(shape, ++seed, root, 9);
    check_rooted(shape, seed, root, sizes, false);
    check_unrooted(shape, seed, sizes, 5, true);
    if (HasFailure()) return;
  }
}

TEST(MemoryGrid, FindsADeadlock) {
  MemoryGrid grid(Shape{0, 1}, 1);
  std::byte byte{};
  EXPECT_THROW(grid.run([&](Party& party) -> Task {
    co_await party.recv(1 - party.rank(), 0, Bytes(&byte, 1));
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
