// Single algorithms that reduce, on a grid in memory: every shape, a commutative operation and one
// that is not, against a sequential reduction in rank order.
#include <gtest/gtest.h>

#include <numeric>

#include "coll/allreduce/allreduce.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"
#include "coll/scan/scan.hpp"
#include "coll/testing/checks.hpp"

namespace isthmus::coll {
namespace {

template <class T>
void check_reduce_scatter(RunReduceScatter algorithm, const Shape& shape, std::uint64_t seed,
                          std::size_t base, bool uneven) {
  const Sizes counts = sizes_for(shape.size(), base, uneven);
  const std::size_t count = std::reduce(counts.begin(), counts.end());
  Trial<T> run(shape, seed, count);
  const auto whole = expected<T>(0, static_cast<int>(shape.size()) - 1, count);
  expect_reduce_scatter(run, whole, counts, with_defaults(algorithm));
  EXPECT_LE(run.grid.depth(), 1);
  if (algorithm == &reduce_scatter_intervals) {
    // Every byte of a result comes once from each other cluster.
    EXPECT_EQ(run.grid.bytes_crossed(),
              count * sizeof(T) * (as_index(run.grid.layout().clusters()) - 1));
  }
}

/// Borders between clusters that a chain in rank order crosses.
int borders(const Shape& shape) {
  int number = 0;
  for (std::size_t r = 1; r < shape.size(); ++r) number += shape[r] != shape[r - 1] ? 1 : 0;
  return number;
}

template <class T>
void check_scan(RunToAll algorithm, const Shape& shape, std::uint64_t seed, std::size_t count,
                std::size_t segment = 0) {
  const bool exclusive = algorithm == &exscan_counterparts || algorithm == &exscan_fan ||
                         algorithm == &exscan_chain || algorithm == &exscan_transpose;
  const bool chain = algorithm == &exscan_chain || algorithm == &scan_chain;
  Trial<T> run(shape, seed, count);
  Parameters parameters;
  parameters.segment = segment;
  expect_scan(run, count, exclusive, [&](auto&&... all) { return algorithm(all..., parameters); });
  const bool twice = algorithm == &exscan_transpose || algorithm == &scan_transpose;
  EXPECT_LE(run.grid.depth(), chain ? borders(shape) : twice ? 2 : 1);
  if (chain) {
    EXPECT_EQ(run.grid.bytes_crossed(), count * sizeof(T) * as_index(borders(shape)));
  }
}

template <class T>
void check_all(const Shape& shape, std::uint64_t& seed, std::size_t count, bool uneven) {
  check_reduce_scatter<T>(reduce_scatter_direct, shape, ++seed, count, uneven);
  check_reduce_scatter<T>(reduce_scatter_fan, shape, ++seed, count, uneven);
  if (T::kCommutative || Layout(shape).blocks()) {
    check_reduce_scatter<T>(reduce_scatter_intervals, shape, ++seed, count, uneven);
  }
  for (const std::size_t segment : {std::size_t{0}, 2 * sizeof(T)}) {
    check_scan<T>(scan_chain, shape, ++seed, count, segment);
    check_scan<T>(exscan_chain, shape, ++seed, count, segment);
  }
  check_scan<T>(scan_counterparts, shape, ++seed, count);
  check_scan<T>(exscan_counterparts, shape, ++seed, count);
  check_scan<T>(scan_fan, shape, ++seed, count);
  check_scan<T>(exscan_fan, shape, ++seed, count);
  check_scan<T>(scan_transpose, shape, ++seed, count);
  check_scan<T>(exscan_transpose, shape, ++seed, count);
}

class ReductionAlgorithmsByShape : public testing::TestWithParam<std::size_t> {};

TEST_P(ReductionAlgorithmsByShape, EveryShape) {
  std::uint64_t seed = 1000 * GetParam();
  const auto shapes = all_shapes(3);
  for (std::size_t i = GetParam(); i < shapes.size(); i += kParts) {
    const Shape& shape = shapes[i];
    SCOPED_TRACE(name_of(shape));
    if (seed % 2 == 0) {
      check_all<Sum>(shape, seed, 2, seed % 4 == 0);
    } else {
      check_all<Affine>(shape, seed, 2, seed % 4 == 1);
    }
    ++seed;
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, ReductionAlgorithmsByShape, testing::Range(std::size_t{0}, kParts));

TEST(ReductionAlgorithms, EveryCount) {
  std::uint64_t seed = 1'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    for (const std::size_t count : {0U, 1U, 7U, 40U}) {
      check_all<Sum>(shape, seed, count, true);
      check_all<Affine>(shape, seed, count, false);
      check_all<Affine>(shape, seed, count, true);
    }
    if (HasFailure()) return;
  }
}

TEST(ReductionAlgorithms, ManyOrdersOfEvents) {
  const Shape shape{0, 1, 0, 2, 1, 0, 2};
  const Shape blocks{0, 0, 1, 1, 1, 2};
  for (std::uint64_t seed = 2'000'000; seed < 2'003'000;) {
    SCOPED_TRACE(seed);
    check_all<Affine>(shape, seed, 3, true);
    check_all<Affine>(blocks, seed, 3, true);
    if (HasFailure()) return;
  }
}

TEST(ReductionAlgorithms, AllreduceOfEverybodysGivesTheSameBitsEverywhere) {
  std::uint64_t seed = 4'000'000;
  for (const Shape& shape : typical_shapes()) {
    SCOPED_TRACE(name_of(shape));
    const int last = static_cast<int>(shape.size()) - 1;
    Trial<Affine> exact(shape, ++seed, 3);
    exact.grid.run([&](Party& party) {
      return allreduce_counterparts(party, exact.in_of(party), exact.out_of(party), 3,
                                    exact.reduction, Parameters{});
    });
    for (const auto& got : exact.out) EXPECT_EQ(got, expected<Affine>(0, last, 3));
    EXPECT_LE(exact.grid.depth(), 1);
    Trial<Float> rounded(shape, ++seed, 3);
    rounded.grid.run([&](Party& party) {
      return allreduce_counterparts(party, rounded.in_of(party), rounded.out_of(party), 3,
                                    rounded.reduction, Parameters{});
    });
    for (const auto& got : rounded.out) {
      EXPECT_TRUE(same_bits(got, rounded.out[0]));
    }
    if (HasFailure()) return;
  }
}

/// More segments than are ever under way.
TEST(ReductionAlgorithms, LongChains) {
  const Shape shape{0, 0, 1, 1, 2};
  for (std::uint64_t seed = 3'000'000; seed < 3'000'010; ++seed) {
    check_scan<Affine>(scan_chain, shape, seed, 333, 2 * sizeof(Affine));
    check_scan<Affine>(exscan_chain, shape, seed, 333, 2 * sizeof(Affine));
  }
}

}  // namespace
}  // namespace isthmus::coll
