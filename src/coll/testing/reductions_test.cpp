// The collectives that reduce, on a grid in memory: every shape, a commutative operation and one
// that is not, against a sequential reduction in rank order.
#include <gtest/gtest.h>

#include <numeric>

#include "coll/testing/checks.hpp"

namespace isthmus::coll {
namespace {

template <class T>
void check_reduce(const Shape& shape, std::uint64_t seed, std::size_t count, int root) {
  Trial<T> run(shape, seed, count);
  run.grid.run([&](Party& party) {
    return reduce(party, run.in_of(party), party.rank() == root ? run.out_of(party) : Bytes{},
                  count, run.reduction, root);
  });
  const int last = static_cast<int>(shape.size()) - 1;
  EXPECT_EQ(run.out[as_index(root)], expected<T>(0, last, count)) << "root " << root;
  EXPECT_LE(run.grid.depth(), 1);
}

template <class T>
void check_allreduce(const Shape& shape, std::uint64_t seed, std::size_t count) {
  Trial<T> run(shape, seed, count);
  run.grid.run([&](Party& party) {
    return allreduce(party, run.in_of(party), run.out_of(party), count, run.reduction);
  });
  const int last = static_cast<int>(shape.size()) - 1;
  for (const auto& got : run.out) EXPECT_EQ(got, expected<T>(0, last, count));
  EXPECT_LE(run.grid.depth(), 1);
}

template <class T>
void check_reduce_scatter(const Shape& shape, std::uint64_t seed, std::size_t base, bool uneven) {
  const Sizes counts = sizes_for(shape.size(), base, uneven);
  const std::size_t count = std::reduce(counts.begin(), counts.end());
  Trial<T> run(shape, seed, count);
  const auto whole = expected<T>(0, static_cast<int>(shape.size()) - 1, count);
  expect_reduce_scatter(run, whole, counts, reduce_scatter);
  EXPECT_LE(run.grid.depth(), 1);
}

template <class T>
void check_scan(const Shape& shape, std::uint64_t seed, std::size_t count, bool exclusive) {
  Trial<T> run(shape, seed, count);
  expect_scan(run, count, exclusive, exclusive ? exscan : scan);
  EXPECT_LE(run.grid.depth(), 1);
}

template <class T>
void check_each(const Shape& shape, std::uint64_t& seed, std::size_t count, bool uneven) {
  const int root = static_cast<int>(seed % shape.size());
  check_reduce<T>(shape, ++seed, count, root);
  check_allreduce<T>(shape, ++seed, count);
  check_reduce_scatter<T>(shape, ++seed, count, uneven);
  check_scan<T>(shape, ++seed, count, false);
  check_scan<T>(shape, ++seed, count, true);
}

class ReductionsByShape : public testing::TestWithParam<std::size_t> {};

TEST_P(ReductionsByShape, EveryShape) {
  std::uint64_t seed = 1000 * GetParam();
  const auto shapes = all_shapes(4);
  for (std::size_t i = GetParam(); i < shapes.size(); i += kParts) {
    const Shape& shape = shapes[i];
    SCOPED_TRACE(name_of(shape));
    check_each<Sum>(shape, seed, 2, seed % 2 == 0);
    check_each<Affine>(shape, seed, 2, seed % 2 == 0);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, ReductionsByShape, testing::Range(std::size_t{0}, kParts));

TEST(Reductions, EveryRootAndCount) {
  std::uint64_t seed = 1'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const std::size_t count : {0U, 1U, 40U}) {
      for (int root = 0; root < static_cast<int>(shape.size()); ++root) {
        check_reduce<Sum>(shape, ++seed, count, root);
        check_reduce<Affine>(shape, ++seed, count, root);
      }
      check_each<Sum>(shape, seed, count, true);
      check_each<Affine>(shape, seed, count, true);
    }
    if (HasFailure()) return;
  }
}

TEST(Reductions, ManyOrdersOfEvents) {
  const Shape shape{0, 1, 0, 2, 1, 0, 2};
  const Shape blocks{0, 0, 1, 1, 1, 2};
  for (std::uint64_t seed = 2'000'000; seed < 2'003'000;) {
    SCOPED_TRACE(seed);
    check_each<Affine>(shape, seed, 3, true);
    check_each<Affine>(blocks, seed, 3, true);
    if (HasFailure()) return;
  }
}

TEST(Reductions, AllreduceGivesTheSameBitsEverywhere) {
  std::uint64_t seed = 3'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    constexpr std::size_t kCount = 33;
    Trial<Float> run(shape, ++seed, kCount);
    run.grid.run([&](Party& party) {
      return allreduce(party, run.in_of(party), run.out_of(party), kCount, run.reduction);
    });
    for (const auto& got : run.out) {
      EXPECT_TRUE(same_bits(got, run.out[0]));
      EXPECT_NEAR(got[0].value, expected<Float>(0, static_cast<int>(shape.size()) - 1, 1)[0].value,
                  1e-5);
    }
    if (HasFailure()) return;
  }
}

struct Refusing : TestReduction<Sum> {
  void combine(ConstBytes, Bytes, std::size_t) override { throw MpiError(9, "no such operation"); }
};

TEST(Reductions, AFailureOfTheOperationReachesWhoDrivesTheTask) {
  const Shape shape{0, 1};
  Trial<Sum> run(shape, 1, 1);
  Refusing refusing;
  EXPECT_THROW(run.grid.run([&](Party& party) {
    return allreduce(party, run.in_of(party), run.out_of(party), 1, refusing);
  }),
               MpiError);
}

}  // namespace
}  // namespace isthmus::coll
